// Time ranges as boards and addresses write them.
import { dateMath, dateTime, makeTimeRange } from '@grafana/data';

const QUICK = [['15m', '15 minutes'], ['30m', '30 minutes'], ['1h', '1 hour'], ['3h', '3 hours'], ['6h', '6 hours'], ['12h', '12 hours'],
  ['24h', '24 hours'], ['2d', '2 days'], ['7d', '7 days']];
export const QUICK_RANGES = QUICK.map(([span, words]) => ({ from: `now-${span}`, to: 'now', display: `Last ${words}` }));
export const REFRESH_INTERVALS = ['5s', '10s', '15s', '30s', '1m', '5m', '15m'];

/** "now-15m", milliseconds or an ISO date as a moment; undefined where it is none of them. */
function moment(text, roundUp, timeZone) {
  const value = /^\d{10,}$/.test(text) ? dateTime(Number(text)) : dateMath.parse(text, roundUp, timeZone);
  return value?.isValid() ? value : undefined;
}

/** A range from its raw ends; an end that cannot be read falls back to the last hour. */
export function timeRange(from, to, timeZone) {
  const start = moment(from, false, timeZone);
  const end = moment(to, true, timeZone);
  if (!start || !end || !start.isBefore(end)) {
    return timeRange('now-1h', 'now', timeZone);
  }
  const raw = (text, value) => (/^\d{10,}$/.test(text) ? value : text);
  return { ...makeTimeRange(start, end), raw: { from: raw(from, start), to: raw(to, end) } };
}

/** A panel's own range: "timeFrom" replaces the start, "timeShift" moves both ends back. */
export function panelRange({ timeFrom, timeShift }, range, timeZone) {
  if (!timeFrom && !timeShift) {
    return range;
  }
  const from = timeFrom ? dateMath.parse(`now-${timeFrom}`, false, timeZone) : range.from;
  const back = timeShift ? Date.now() - dateMath.parse(`now-${timeShift}`, false, timeZone).valueOf() : 0;
  const shifted = (time) => dateTime(time.valueOf() - back);
  return makeTimeRange(shifted(from), shifted(range.to));
}

/** An end of a range as the address holds it. */
export const rangeParam = (end) => String(end?.valueOf?.() ?? end);
