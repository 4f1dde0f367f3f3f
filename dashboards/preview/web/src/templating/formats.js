// How a variable's value is written into a text: Grafana's documented format options.
import { textUtil } from '@grafana/data';

const list = (value) => (Array.isArray(value) ? value : [value]);
const escapeRegex = (value) => String(value).replace(/[\\^$*+?.()|[\]{}]/g, '\\$&');
const escapeString = (value) => String(value).replace(/\\/g, '\\\\').replace(/"/g, '\\"').replace(/\n/g, '\\n');

/** A value inside a quoted PromQL string; one that may be several is a regular expression there. */
function prometheus(value, variable) {
  if (!variable?.multi && !variable?.includeAll) {
    return escapeString(list(value).join(','));
  }
  const choices = list(value).map((item) => escapeString(escapeRegex(item)));
  return choices.length === 1 ? choices[0] : `(${choices.join('|')})`;
}

const glob = (value) => (list(value).length > 1 ? `{${list(value).join(',')}}` : String(list(value)[0] ?? ''));

export const FORMATS = {
  raw: (value) => list(value).join(','),
  csv: (value) => list(value).join(','),
  pipe: (value) => list(value).join('|'),
  glob,
  text: (value, variable) => (variable?.isAll ? 'All' : list(variable?.text ?? value).join(' + ')),
  html: (value) => textUtil.escapeHtml(list(value).join(', ')),
  json: (value) => JSON.stringify(value),
  regex: (value) => (list(value).length > 1 ? `(${list(value).map(escapeRegex).join('|')})` : escapeRegex(list(value)[0])),
  singlequote: (value) => list(value).map((item) => `'${String(item).replace(/'/g, "\\'")}'`).join(','),
  doublequote: (value) => list(value).map((item) => `"${String(item).replace(/"/g, '\\"')}"`).join(','),
  percentencode: (value) => encodeURIComponent(glob(value)),
  uriencode: (value) => encodeURIComponent(glob(value)),
  queryparam: (value, variable) =>
    (variable?.isAll ? ['$__all'] : list(value)).map((item) => `var-${variable?.name}=${encodeURIComponent(item)}`).join('&'),
  prometheus,
};
