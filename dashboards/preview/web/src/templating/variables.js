// A board's variables: their choices, asked of Prometheus, and which of them are chosen.
import { rangeUtil, stringToJsRegex } from '@grafana/data';
import { call, get, seriesText } from '../prometheus/client.js';
import { Templates } from './templates.js';

export const ALL = '$__all';
const list = (value) => (Array.isArray(value) ? value : [value]);
const plain = (values) => values.map((value) => ({ text: value, value }));

async function queryValues(query, range) {
  const span = { start: range.from.unix(), end: range.to.unix() };
  let match;
  if (/^label_names\(.*\)\s*$/.test(query)) {
    return get('labels', span);
  }
  if ((match = /^label_values\((?:(.+),\s*)?([\w:.-]+)\s*\)\s*$/s.exec(query))) {
    const selector = match[1] && match[1].replace(/\s/g, '') !== '{}' ? { 'match[]': match[1] } : {};
    return get(`label/${encodeURIComponent(match[2])}/values`, { ...span, ...selector });
  }
  if ((match = /^metrics\((.+)\)\s*$/.exec(query))) {
    return get('label/__name__/values', { ...span, 'match[]': `{__name__=~"${match[1]}"}` });
  }
  if ((match = /^query_result\((.+)\)\s*$/s.exec(query))) {
    const { data } = await call('query', { query: match[1], time: range.to.unix() }, { post: true });
    return data.resultType === 'vector' ? data.result.map((s) => `${seriesText(s.metric)} ${s.value[1]} ${s.value[0] * 1000}`) : [String(data.result[1])];
  }
  return query ? (await get('series', { ...span, 'match[]': query })).map(seriesText) : [];
}

// Grafana's numbering of sort orders: pairs of ascending and descending, from 1.
const COMPARE = [
  undefined,
  (a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : 0),
  (a, b) => Number(/\d+/.exec(a.text)?.[0] ?? -1) - Number(/\d+/.exec(b.text)?.[0] ?? -1),
  (a, b) => a.text.toLowerCase().localeCompare(b.text.toLowerCase()),
  (a, b) => a.text.localeCompare(b.text, undefined, { numeric: true }),
];

/** Applies the variable's regex (its first group, or groups named value and text), removes doubles, sorts. */
export function filterOptions(values, { regex: source, sort = 0 }) {
  const regex = source ? stringToJsRegex(source.startsWith('/') ? source : `/^${source}$/`) : null;
  const options = new Map();
  for (const value of values) {
    let option = { text: value, value };
    if (regex) {
      regex.lastIndex = 0;
      const match = regex.exec(value);
      if (!match) {
        continue;
      }
      const picked = match.groups?.value ?? match.groups?.text ?? match[1] ?? value;
      option = { value: picked, text: match.groups?.text ?? picked };
    }
    if (!options.has(option.value)) {
      options.set(option.value, option);
    }
  }
  const sorted = [...options.values()];
  const compare = COMPARE[Math.ceil(sort / 2)];
  if (compare) {
    sorted.sort(compare);
    if (sort % 2 === 0) {
      sorted.reverse();
    }
  }
  return sorted;
}

const customOptions = (query) =>
  (query.match(/(?:\\,|[^,])+/g) ?? []).map((item) => {
    const text = item.replace(/\\,/g, ',').trim();
    const pair = /^(.+)\s:\s(.+)$/.exec(text);
    return pair ? { text: pair[1].trim(), value: pair[2].trim() } : { text, value: text };
  });

async function optionsOf(definition, templates, settings) {
  const query = typeof definition.query === 'string' ? definition.query : (definition.query?.query ?? definition.definition ?? '');
  switch (definition.type) {
    case 'query':
      return filterOptions(await queryValues(templates.replace(query, {}, 'prometheus'), templates.range), definition);
    case 'datasource':
      if (query !== 'prometheus') {
        throw new Error(`the preview has no data source of type "${query}", only Prometheus`);
      }
      return plain([settings.datasource]);
    case 'custom':
      return customOptions(templates.replace(query));
    case 'interval': {
      const steps = plain((query.match(/(["'])(.*?)\1|[^,]+/g) ?? []).map((step) => step.replace(/["']/g, '').trim()));
      return definition.auto ? [{ text: 'auto', value: `$__auto_interval_${definition.name}` }, ...steps] : steps;
    }
    case 'textbox':
    case 'constant':
      return plain([String((definition.type === 'textbox' && definition.current?.value) || query)]);
    default:
      throw new Error(`variables of type "${definition.type}" are not supported by the preview`);
  }
}

/** Which options hold: those that the address asks for, else those saved with the board, else the first. */
function chosen(definition, options, asked) {
  const { multi, includeAll } = definition;
  const wanted = list(asked ?? definition.current?.value ?? []).map((value) => (value === 'All' && includeAll ? ALL : value)).filter((value) => value !== '');
  const known = definition.type === 'textbox' && asked ? plain(asked) : wanted.map((value) => options.find((o) => o.value === value || o.text === value)).filter(Boolean);
  const isAll = Boolean(includeAll && (wanted.includes(ALL) || !known.length));
  const picked = isAll ? options : known.length ? known : options.slice(0, 1);
  const values = picked.map((o) => o.value);
  return {
    isAll,
    value: isAll || multi ? values : (values[0] ?? ''),
    text: isAll ? ['All'] : picked.map((o) => o.text),
    missing: asked && !wanted.includes(ALL) && definition.type !== 'textbox' ? asked.filter((value) => !options.some((o) => o.value === value || o.text === value)) : [],
  };
}

/**
 * Resolves the variables in their order, since a query may use those before it.
 * asked(name): the values in the page's address, or undefined. Gives Templates; a variable that cannot be
 * resolved has an `error` and no value.
 */
export async function resolveVariables(board, range, asked, settings) {
  const variables = [];
  const templates = new Templates({ title: board.title, range, variables });
  for (const definition of board.templating?.list ?? []) {
    const { name, type, label, description, multi, includeAll, allValue, hide = 0 } = definition;
    const variable = { name, type, label: label || name, description, multi: Boolean(multi), includeAll: Boolean(includeAll), allValue, hide, options: [] };
    try {
      variable.options = await optionsOf(definition, templates, settings);
      Object.assign(variable, chosen(definition, variable.options, asked(name)));
      if (String(variable.value).startsWith('$__auto')) {
        variable.value = rangeUtil.calculateInterval(range, definition.auto_count || 30, definition.auto_min || '10s').interval;
      }
    } catch (error) {
      Object.assign(variable, { value: '', text: [''], error: error.message });
    }
    variables.push(variable);
  }
  return templates;
}
