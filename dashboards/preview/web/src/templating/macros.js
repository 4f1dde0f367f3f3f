// ${__data…}, ${__value…}, ${__field…} and ${__series…}: what a data link says of the value that it stands on.
import { formattedValueToString, getFieldDisplayName } from '@grafana/data';

/** The part after a dot or in brackets: fields.server, fields["server"], fields[0] all give one key. */
const keyOf = (path, word) => {
  const match = new RegExp(`^${word}(?:\\.([\\w:-]+)|\\["([^"]+)"\\]|\\['([^']+)'\\]|\\[(\\d+)\\])?(?:\\.(\\w+))?$`).exec(path ?? '');
  return match && { key: match[1] ?? match[2] ?? match[3] ?? match[4], part: match[5] };
};

function cell(field, rowIndex, part) {
  const value = field.values[rowIndex];
  const shown = field.display?.(value) ?? { text: String(value), numeric: Number(value) };
  return { raw: value, numeric: shown.numeric, text: formattedValueToString(shown) }[part ?? 'text'];
}

/** The value of a macro, or undefined where `name` is none or has no data to speak of. */
export function macro(name, path, context) {
  const { field, frame, data, rowIndex, calculatedValue } = context ?? {};
  if (!field) {
    return undefined;
  }
  if (name === '__field' || name === '__series') {
    const labels = keyOf(path, 'labels');
    if (labels) {
      return labels.key === undefined ? Object.entries(field.labels ?? {}).map(([k, v]) => `${k}="${v}"`).join(', ') : (field.labels?.[labels.key] ?? '');
    }
    return path === 'displayName' || name === '__series' ? getFieldDisplayName(field, frame, data) : field.name;
  }
  if (name === '__value') {
    const part = path || 'raw';
    if (part === 'time') {
      return frame.fields.find((f) => f.type === 'time')?.values[rowIndex];
    }
    if (rowIndex === undefined) {
      return calculatedValue && { raw: calculatedValue.numeric, numeric: calculatedValue.numeric, text: formattedValueToString(calculatedValue) }[part];
    }
    return cell(field, rowIndex, part);
  }
  const asked = name === '__data' ? keyOf(path, 'fields') : null;
  if (asked && rowIndex !== undefined) {
    const other = frame.fields.find((f) => f.name === asked.key || getFieldDisplayName(f, frame, data) === asked.key) ?? frame.fields[Number(asked.key)];
    return other && cell(other, rowIndex, asked.part);
  }
  return undefined;
}
