// Time range and refresh; both are in the address.
import { dateTime } from '@grafana/data';
import { RefreshPicker, TimeRangePicker } from '@grafana/ui';
import { setParams } from '../model/address.js';
import { QUICK_RANGES, REFRESH_INTERVALS, rangeParam } from '../model/time.js';

export const setRange = (from, to) => setParams({ from: rangeParam(from), to: rangeParam(to) });

/** Moves the range by half of its span, or doubles it. */
function shifted(range, direction) {
  const span = range.to.diff(range.from);
  const [from, to] = direction ? [direction * (span / 2), direction * (span / 2)] : [-span / 2, span / 2];
  setRange(dateTime(range.from.valueOf() + from), dateTime(Math.min(range.to.valueOf() + to, Date.now())));
}

export function TimeControls({ range, timeZone, refresh, loading, onTimeZone, onRefresh }) {
  return (
    <>
      <TimeRangePicker value={range} timeZone={timeZone} quickRanges={QUICK_RANGES} isOnCanvas onChange={({ raw }) => setRange(raw.from, raw.to)} onChangeTimeZone={onTimeZone}
        onMoveBackward={() => shifted(range, -1)} onMoveForward={() => shifted(range, 1)} onZoom={() => shifted(range, 0)} />
      <RefreshPicker value={refresh} intervals={REFRESH_INTERVALS} isLoading={loading} isOnCanvas text="Refresh" onRefresh={onRefresh} onIntervalChanged={(value) => setParams({ refresh: value })} />
    </>
  );
}
