// Runs a panel's queries.
import { call } from '../prometheus/client.js';
import { heatmapFrame, inOrder, seriesOf, tableFrame, timeSeriesFrames } from '../prometheus/frames.js';
import { duration, timing } from '../prometheus/steps.js';

export const isPrometheus = (target, panel) => {
  const source = target.datasource ?? panel.datasource;
  return !['datasource', '__expr__', 'grafana'].includes(source?.type) && !String(source?.uid ?? '').startsWith('--');
};

function framesOf(series, target, details) {
  switch (target.format) {
    case 'table':
      return series.length ? [tableFrame(series, details)] : [];
    case 'heatmap':
      return series.length ? [heatmapFrame(series, details)] : [];
    default:
      return timeSeriesFrames(series, details);
  }
}

async function runTarget(target, kind, { panel, range, maxDataPoints, settings, templates, scopedVars, several, signal }) {
  const replace = (text, own = {}, format) => templates.replace(text, { ...scopedVars, ...own }, format);
  const { stepMs, scopedVars: intervals } = timing({
    range, maxDataPoints, minStep: /__(rate_)?interval\b/.test(target.interval ?? '') ? target.interval : replace(target.interval),
    panelInterval: replace(panel.interval), scrapeInterval: settings.scrapeInterval, intervalFactor: target.intervalFactor,
  });
  const expr = replace(target.expr, intervals, 'prometheus');
  const query = { refId: target.refId, kind, expr, step: kind === 'range' ? duration(stepMs) : undefined, notes: [], series: [], frames: [] };
  // Whole multiples of the step: the same samples are shown whenever the page asks.
  const aligned = (time) => (Math.floor(time.valueOf() / stepMs) * stepMs) / 1000;
  try {
    const body = kind === 'instant'
      ? await call('query', { query: expr, time: range.to.valueOf() / 1000 }, { post: true, signal })
      : await call('query_range', { query: expr, start: aligned(range.from), end: aligned(range.to), step: stepMs / 1000 }, { post: true, signal });
    const series = inOrder(seriesOf(body.data), expr);
    const details = { refId: target.refId, expr, stepMs, several, resultType: body.data.resultType, legendFormat: target.legendFormat && replace(target.legendFormat, intervals) };
    return { ...query, notes: [...(body.warnings ?? []), ...(body.infos ?? [])], series, frames: framesOf(series, target, details) };
  } catch (error) {
    if (signal?.aborted) {
      throw error;
    }
    return { ...query, error: error.message };
  }
}

/**
 * Runs every query of a panel that is not hidden; gives, in their order, { refId, kind, expr, step, notes,
 * series, frames, error }.
 */
export async function runQueries(panel, context) {
  const targets = (panel.targets ?? []).filter((t) => !t.hide && t.expr && isPrometheus(t, panel));
  const several = targets.filter((t) => t.format === 'table').length > 1;
  return Promise.all(targets.flatMap((target) => {
    const kinds = target.instant ? (target.range ? ['range', 'instant'] : ['instant']) : ['range'];
    return kinds.map((kind) => runTarget(target, kind, { ...context, panel, several }));
  }));
}
