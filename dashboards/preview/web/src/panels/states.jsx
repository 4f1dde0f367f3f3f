// State timeline (runs of equal values as one bar) and status history (one cell for each sample).
import { FieldType, dateTimeFormat, getFieldDisplayName } from '@grafana/data';
import { VizLegend } from '@grafana/ui';
import { NoData, text, timeTicks } from './common.jsx';

const CHARACTER = 7;

/** Bars of one row: { start, end, text, color }. A gap of more than half a step ends a bar. */
function bars({ field, time }, merge) {
  const step = time.config.interval ?? 15000;
  const result = [];
  field.values.forEach((value, i) => {
    if (value == null) {
      return;
    }
    const shown = field.display(value);
    const start = time.values[i];
    const end = Math.min(time.values[i + 1] ?? start + step, start + step * 1.5);
    const last = result.at(-1);
    if (merge && last?.text === text(shown) && last.end >= start) {
      last.end = end;
    } else {
      result.push({ start, end, text: text(shown), color: shown.color });
    }
  });
  return result;
}

export function StatePanel({ frames, options, width, height, timeRange, timeZone, fieldConfig, theme, history }) {
  const rows = frames.flatMap((frame) => frame.fields.filter((f) => f.type !== FieldType.time && f.values.length).map((field) => ({
    field, name: getFieldDisplayName(field, frame, frames), time: frame.fields.find((f) => f.type === FieldType.time),
  })));
  if (!rows.length || rows.some((row) => !row.time)) {
    return <NoData fieldConfig={fieldConfig} />;
  }
  const legendHeight = options.legend.showLegend ? 30 : 0;
  const labelWidth = Math.min(width * 0.3, Math.max(...rows.map((row) => row.name.length)) * CHARACTER + 12);
  const plotWidth = width - labelWidth;
  const rowHeight = (height - 22 - legendHeight) / rows.length;
  const barHeight = rowHeight * options.rowHeight;
  const [from, to] = [timeRange.from.valueOf(), timeRange.to.valueOf()];
  const x = (t) => ((Math.min(to, Math.max(from, t)) - from) / (to - from)) * plotWidth;
  const states = new Map();
  return (
    <div style={{ position: 'relative', width, height, fontSize: 12 }}>
      {rows.map((row, r) => (
        <div key={r} role="img" aria-label={row.name}>
          <div title={row.name} style={{ position: 'absolute', top: r * rowHeight, width: labelWidth - 8, height: rowHeight, lineHeight: `${rowHeight}px`, textAlign: 'right', overflow: 'hidden', whiteSpace: 'nowrap', textOverflow: 'ellipsis' }}>
            {row.name}
          </div>
          {bars(row, !history && options.mergeValues).map((bar, i) => {
            states.set(bar.text, bar.color);
            const barWidth = Math.max(1, (x(bar.end) - x(bar.start)) * (history ? options.colWidth : 1));
            return (
              <div key={i} title={`${bar.text}: ${dateTimeFormat(bar.start, { timeZone })} to ${dateTimeFormat(bar.end, { timeZone })}`}
                style={{ position: 'absolute', left: labelWidth + x(bar.start), top: r * rowHeight + (rowHeight - barHeight) / 2, width: barWidth, height: barHeight, lineHeight: `${barHeight}px`,
                  overflow: 'hidden', paddingLeft: barWidth > 8 ? 4 : 0, boxSizing: 'border-box', textAlign: history ? 'center' : options.alignValue, background: bar.color,
                  opacity: 0.3 + (row.field.config.custom?.fillOpacity ?? 70) / 143, color: theme.colors.getContrastText(bar.color) }}>
                {options.showValue !== 'never' && barWidth > bar.text.length * CHARACTER ? bar.text : ''}
              </div>
            );
          })}
        </div>
      ))}
      {timeTicks(from, to, plotWidth).map(({ at, label }) => (
        <div key={at} style={{ position: 'absolute', top: height - legendHeight - 20, left: labelWidth + x(at) - 20, width: 40, textAlign: 'center', color: theme.colors.text.secondary }}>{label}</div>
      ))}
      {legendHeight > 0 && (
        <div style={{ position: 'absolute', bottom: 0 }}>
          <VizLegend placement="bottom" displayMode="list" items={[...states].map(([label, color]) => ({ label, color, yAxis: 1 }))} />
        </div>
      )}
    </div>
  );
}
