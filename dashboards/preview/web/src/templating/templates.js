// Replaces variables and macros in texts, queries and links.
import { dateTime } from '@grafana/data';
import { FORMATS } from './formats.js';
import { macro } from './macros.js';

const VARIABLE = /\$(\w+)|\[\[(\w+?)(?::(\w+))?\]\]|\$\{(\w+)((?:\.[^:}]+|\[[^\]]+\][^:}]*)*)(?::([^}]+))?\}/g;

/** One state of a board's variables and time range; never changes. */
export class Templates {
  /**
   * range: the resolved time range with its raw form; variables: as resolveVariables gives them;
   * title: the board's.
   */
  constructor({ title, range, variables }) {
    Object.assign(this, { title, range, variables });
  }

  /** from and to as a link carries them: "now-15m" stays relative. */
  timeParams() {
    const { raw } = this.range;
    return new URLSearchParams({ from: raw.from.valueOf(), to: raw.to.valueOf() }).toString();
  }

  variableParams() {
    return this.variables.map((variable) => FORMATS.queryparam(variable.value, variable)).join('&');
  }

  #builtIn(name) {
    const spanMs = this.range.to.diff(this.range.from);
    const values = {
      __from: this.range.from.valueOf(),
      __to: this.range.to.valueOf(),
      __range: `${Math.round(spanMs / 1000)}s`,
      __range_s: Math.round(spanMs / 1000),
      __range_ms: spanMs,
      __dashboard: this.title,
      __timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    };
    return name in values ? { name, value: values[name] } : undefined;
  }

  /**
   * Replaces what is known; what is not stays as it stands.
   * scopedVars: { name: { value, text } }, before the board's own; format: a name in FORMATS, or a function.
   */
  replace(text, scopedVars = {}, format = 'glob') {
    return String(text ?? '').replace(VARIABLE, (match, plain, bracketed, bracketFormat, braced, path, braceFormat) => {
      const name = plain ?? bracketed ?? braced;
      if (name === '__url_time_range') {
        return this.timeParams();
      }
      if (name === '__all_variables') {
        return this.variableParams();
      }
      const fmt = bracketFormat ?? braceFormat ?? format;
      const own = macro(name, path?.replace(/^\./, ''), scopedVars.__dataContext?.value);
      const variable = own !== undefined ? { name, value: own }
        : name in scopedVars ? { name, ...scopedVars[name] }
        : (this.#builtIn(name) ?? this.variables.find((v) => v.name === name));
      if (!variable) {
        return match;
      }
      if (String(fmt).startsWith('date')) {
        const date = dateTime(Number(variable.value));
        return /^date(:iso)?$/.test(fmt) ? date.toISOString() : date.format(fmt.slice('date:'.length));
      }
      if (variable.isAll && variable.allValue && fmt !== 'text' && fmt !== 'queryparam') {
        return variable.allValue;
      }
      return typeof fmt === 'function' ? fmt(variable.value, variable) : (FORMATS[fmt] ?? FORMATS.glob)(variable.value, variable);
    });
  }
}
