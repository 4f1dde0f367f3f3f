// Annotations: times at which a PromQL expression is above zero.
import { rangeUtil } from '@grafana/data';
import { call } from '../prometheus/client.js';
import { seriesOf } from '../prometheus/frames.js';

const MOST_POINTS = 1000;

/** The annotations of a board that are queries to Prometheus. */
export const annotationQueries = (board) => (board.annotations?.list ?? []).filter((a) => !a.builtIn && (a.expr || a.target?.expr));

const filled = (template, labels) => (template ?? '').replace(/\{\{\s*(.+?)\s*\}\}/g, (_match, label) => labels[label] ?? '');

/** Runs of samples above zero that follow each other without a gap; where the value is the moment, runs of such moments. */
export function events(series, stepMs, { titleFormat, textFormat, useValueForTime }) {
  return series.flatMap(({ labels, points }) => {
    const runs = [];
    for (const [seconds, value] of points) {
      const time = useValueForTime ? Math.floor(value) : seconds * 1000;
      const last = runs.at(-1);
      if (!(value > 0)) {
        continue;
      }
      if (last && time - last.to <= stepMs) {
        last.to = time;
      } else {
        runs.push({ from: time, to: time, title: filled(titleFormat, labels), text: filled(textFormat, labels) });
      }
    }
    return runs;
  });
}

/** Each annotation query with its { events } or { error }; those switched off are not asked. */
export async function loadAnnotations(board, { range, templates, settings, isOn, signal }) {
  return Promise.all(annotationQueries(board).map(async (annotation) => {
    const entry = { name: annotation.name, color: annotation.iconColor ?? 'blue', hide: annotation.hide, on: isOn(annotation), panels: annotation.filter, events: [] };
    if (!entry.on) {
      return entry;
    }
    const scrapeMs = rangeUtil.intervalToMs(settings.scrapeInterval);
    const stepMs = Math.max(annotation.step ? rangeUtil.intervalToMs(annotation.step) : scrapeMs, rangeUtil.roundInterval(range.to.diff(range.from) / MOST_POINTS));
    const intervals = { __interval: { value: rangeUtil.secondsToHms(stepMs / 1000) }, __rate_interval: { value: `${(Math.max(stepMs + scrapeMs, 4 * scrapeMs)) / 1000}s` } };
    const aligned = (time) => (Math.floor(time.valueOf() / stepMs) * stepMs) / 1000;
    try {
      const query = templates.replace(annotation.expr ?? annotation.target.expr, intervals, 'prometheus');
      const { data } = await call('query_range', { query, start: aligned(range.from), end: aligned(range.to), step: stepMs / 1000 }, { post: true, signal });
      // A moment that is a value may lie outside the time range.
      const start = annotation.useValueForTime ? range.from.valueOf() : aligned(range.from) * 1000;
      const shown = ({ from, to }) => to >= start && from <= range.to.valueOf();
      return { ...entry, events: events(seriesOf(data), stepMs, annotation).filter(shown) };
    } catch (error) {
      return { ...entry, error: error.message };
    }
  }));
}
