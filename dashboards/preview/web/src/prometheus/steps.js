// The step of a range query, and what $__interval and $__rate_interval stand for.
import { rangeUtil } from '@grafana/data';

// Prometheus refuses a range query with more points than this.
const MAX_POINTS = 11000;
const BUILT_IN = /^\$(\{)?(__interval|__rate_interval)\}?$/;

/** Milliseconds as Prometheus writes durations: 90000 is 1m30s. */
export function duration(ms) {
  if (ms < 1000) {
    return `${ms}ms`;
  }
  const units = [['h', 3600e3], ['m', 60e3]];
  let rest = ms;
  let text = '';
  for (const [unit, size] of units) {
    const count = Math.floor(rest / size);
    text += count ? `${count}${unit}` : '';
    rest -= count * size;
  }
  return rest || !text ? `${text}${rest / 1000}s` : text;
}

/**
 * $__rate_interval by Grafana's documentation of it: wide enough for four scrapes, so that rate() always
 * has two samples even when one scrape fails.
 */
const rateInterval = (stepMs, scrapeMs) => Math.max(stepMs + scrapeMs, 4 * scrapeMs);

/**
 * Step and interval variables of one query.
 * minStep: the query's own "Min step", panelInterval: the panel's "Min interval", scrapeInterval: the data
 * source's; durations as text. Gives { stepMs, scopedVars }.
 */
export function timing({ range, maxDataPoints, minStep, panelInterval, scrapeInterval, intervalFactor = 1 }) {
  const spanMs = Math.max(range.to.diff(range.from), 1);
  const scrapeMs = rangeUtil.intervalToMs(scrapeInterval);
  const builtIn = BUILT_IN.exec(minStep ?? '')?.[2];
  const given = !builtIn && minStep ? rangeUtil.intervalToMs(minStep.replace(/^>\s*/, '')) : undefined;
  const lowest = given ?? rangeUtil.intervalToMs((panelInterval || scrapeInterval).replace(/^>\s*/, ''));
  let stepMs = Math.max(rangeUtil.roundInterval(spanMs / maxDataPoints), lowest, rangeUtil.roundInterval(spanMs / MAX_POINTS), 1);
  if (builtIn === '__rate_interval') {
    stepMs = rateInterval(stepMs, scrapeMs);
  }
  stepMs *= intervalFactor || 1;
  const rateMs = builtIn === '__rate_interval' ? stepMs : rateInterval(stepMs, given ?? scrapeMs);
  const seconds = Math.round(spanMs / 1000);
  const values = {
    __interval: rangeUtil.secondsToHms(stepMs / 1000),
    __interval_ms: stepMs,
    __rate_interval: duration(rateMs),
    __rate_interval_ms: rateMs,
    __range: `${seconds}s`,
    __range_s: seconds,
    __range_ms: spanMs,
  };
  return { stepMs, scopedVars: Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { value, text: value }])) };
}
