// Answers of Prometheus as data frames: time series, tables, or a histogram's buckets over time.
import { DataFrameType, FieldType } from '@grafana/data';

const number = (text) => ({ '+Inf': Infinity, Inf: Infinity, '-Inf': -Infinity, NaN: NaN })[text] ?? Number(text);

const labelText = (labels) => Object.keys(labels).sort().map((name) => `${name}=${labels[name]}`).join(',');

/**
 * Instant results in the order of their labels, where the query does not sort: Prometheus gives them in any
 * order, and tiles that change places at each refresh cannot be read.
 */
export const inOrder = (series, expr) =>
  /\b(sort\w*|topk|bottomk)\b/.test(expr) ? series : [...series].sort((a, b) => (labelText(a.labels) < labelText(b.labels) ? -1 : 1));

/** Every result type as a list of { labels, points: [[seconds, number]] }. */
export function seriesOf(data) {
  switch (data.resultType) {
    case 'matrix':
      return data.result.filter((s) => s.values).map((s) => ({ labels: s.metric, points: s.values.map(([t, v]) => [t, number(v)]) }));
    case 'vector':
      return data.result.filter((s) => s.value).map((s) => ({ labels: s.metric, points: [[s.value[0], number(s.value[1])]] }));
    default:
      return [{ labels: {}, points: [[data.result[0], number(data.result[1])]] }];
  }
}

/** The name that a legend format gives a series; undefined where Grafana derives it from the labels that differ. */
export function seriesName(legendFormat, expr, labels) {
  if (legendFormat && legendFormat !== '__auto') {
    return legendFormat.replace(/\{\{\s*(.+?)\s*\}\}/g, (_match, label) => labels[label] ?? '');
  }
  const { __name__: metric = '', ...rest } = labels;
  const names = Object.keys(rest).sort();
  if (legendFormat === '__auto') {
    return names.length || metric ? undefined : expr;
  }
  const braces = names.length ? `{${names.map((name) => `${name}="${rest[name]}"`).join(', ')}}` : '';
  return `${metric}${braces}` || expr;
}

/** One frame for each series. */
export function timeSeriesFrames(series, { refId, legendFormat, expr, stepMs, resultType }) {
  return series.map(({ labels, points }) => {
    const name = seriesName(legendFormat, expr, labels);
    return {
      refId,
      meta: { type: DataFrameType.TimeSeriesMulti, custom: { resultType }, executedQueryString: expr },
      length: points.length,
      fields: [
        { name: 'Time', type: FieldType.time, config: { interval: stepMs }, values: points.map(([t]) => t * 1000) },
        { name: labels.__name__ ?? 'Value', type: FieldType.number, labels, config: name ? { displayNameFromDS: name } : {}, values: points.map(([, v]) => v) },
      ],
    };
  });
}

/** One frame: time, a column for each label, the value. `several`: other queries of the panel give tables too. */
export function tableFrame(series, { refId, expr, several }) {
  const labels = [...new Set(series.flatMap((s) => Object.keys(s.labels)))].sort();
  const rows = series.flatMap((s) => s.points.map((point) => ({ labels: s.labels, point })));
  return {
    refId,
    meta: { executedQueryString: expr, preferredVisualisationType: 'table' },
    length: rows.length,
    fields: [
      { name: 'Time', type: FieldType.time, config: {}, values: rows.map((row) => row.point[0] * 1000) },
      ...labels.map((name) => ({ name, type: FieldType.string, config: { filterable: true }, values: rows.map((row) => row.labels[name] ?? '') })),
      { name: several ? `Value #${refId}` : 'Value', type: FieldType.number, config: {}, values: rows.map((row) => row.point[1]) },
    ],
  };
}

/**
 * One frame with a field for each bucket, from the cumulative buckets that Prometheus keeps: what a bucket
 * holds is what is below its bound less what is below the bound before.
 */
export function heatmapFrame(series, { refId, expr, stepMs }) {
  const times = [...new Set(series.flatMap((s) => s.points.map(([t]) => t)))].sort((a, b) => a - b);
  const position = new Map(times.map((t, i) => [t, i]));
  const cumulative = new Map();
  for (const { labels, points } of series.filter((s) => 'le' in s.labels)) {
    const sums = cumulative.get(labels.le) ?? new Array(times.length).fill(null);
    for (const [t, value] of points) {
      sums[position.get(t)] = (sums[position.get(t)] ?? 0) + value;
    }
    cumulative.set(labels.le, sums);
  }
  const buckets = [...cumulative].sort(([a], [b]) => number(a) - number(b));
  return {
    refId,
    meta: { type: DataFrameType.HeatmapRows, executedQueryString: expr },
    length: times.length,
    fields: [
      { name: 'Time', type: FieldType.time, config: { interval: stepMs }, values: times.map((t) => t * 1000) },
      ...buckets.map(([le, sums], i) => ({
        name: le,
        type: FieldType.number,
        config: {},
        values: sums.map((sum, k) => (sum === null ? null : Math.max(0, sum - (buckets[i - 1]?.[1][k] ?? 0)))),
      })),
    ],
  };
}
