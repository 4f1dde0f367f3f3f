// Buckets over time. Grafana publishes no heatmap: cells on a canvas, a colour scale, a tooltip.
import { useEffect, useRef, useState } from 'react';
import { FieldType, dateTimeFormat, getFieldDisplayName, getValueFormat } from '@grafana/data';
import * as chromatic from 'd3-scale-chromatic';
import { NoData, text, timeTicks } from './common.jsx';

// Schemes that run from light to dark start at the panel's background, as Grafana turns them.
const LIGHT_TO_DARK = /^(Blues|Greens|Greys|Oranges|Purples|Reds|(Bu|Gn|Or|Pu|Yl)[A-Z]\w*|RdPu)$/;
const DIVERGING = /^(BrBG|PiYG|PRGn|PuOr|RdBu|RdGy|RdYlBu|RdYlGn|Spectral|Rainbow|Sinebow)$/;
const SCALE_WIDTH = 160;

function painter(options, theme) {
  const { scheme, steps, reverse, mode, fill, exponent } = options.color;
  const interpolate = chromatic[`interpolate${scheme}`] ?? chromatic.interpolateOranges;
  const turned = (DIVERGING.test(scheme) || (LIGHT_TO_DARK.test(scheme) ? theme.isDark : theme.isLight)) !== reverse;
  return (t) => {
    if (mode === 'opacity') {
      return { alpha: Math.max(0, t) ** exponent, color: theme.visualization.getColorByName(fill) };
    }
    const step = Math.round(Math.min(1, Math.max(0, t)) * (steps - 1)) / (steps - 1);
    return { alpha: 1, color: interpolate(turned ? 1 - step : step) };
  };
}

const rowsOf = (frames) => frames.flatMap((frame) =>
  frame.fields.filter((f) => f.type === FieldType.number).map((field) => ({ field, time: frame.fields[0], name: getFieldDisplayName(field, frame, frames) })));

/** Everything that drawing and pointing need of one state of the panel. */
function geometry({ rows, options, width, height, timeRange, theme, measure }) {
  const format = getValueFormat(options.yAxis.unit || 'short');
  const bound = (name) => (Number.isFinite(Number(name)) ? text(format(Number(name), options.yAxis.decimals)) : name);
  const legendHeight = options.legend.show ? 30 : 0;
  const left = Math.max(...rows.map((r) => measure(bound(r.name)))) + (options.yAxis.axisLabel ? 30 : 12);
  const [from, to] = [timeRange.from.valueOf(), timeRange.to.valueOf()];
  const [plotWidth, plotHeight] = [width - left - 8, height - legendHeight - 26];
  const hidden = (v) => !Number.isFinite(v) || v <= (options.filterValues?.le ?? -Infinity);
  const values = rows.flatMap((r) => r.field.values.filter((v) => !hidden(v)));
  return {
    left, plotWidth, plotHeight, from, to, bound, hidden, legendHeight,
    rowHeight: plotHeight / rows.length,
    low: options.color.min ?? values.reduce((a, b) => Math.min(a, b), Infinity),
    high: options.color.max ?? values.reduce((a, b) => Math.max(a, b), -Infinity),
    empty: !values.length,
    x: (t) => left + ((t - from) / (to - from)) * plotWidth,
    top: (i) => (options.yAxis.reverse ? i : rows.length - 1 - i) * (plotHeight / rows.length),
  };
}

function draw(g, { rows, options, width, height, theme }, geo) {
  const paint = painter(options, theme);
  const use = (t) => {
    const { alpha, color } = paint(t);
    g.globalAlpha = alpha;
    g.fillStyle = color;
  };
  g.clearRect(0, 0, width, height);
  rows.forEach(({ field, time }, i) => {
    const step = time.config.interval ?? time.values[1] - time.values[0];
    field.values.forEach((value, k) => {
      const right = geo.x(time.values[k]);
      if (geo.hidden(value) || right <= geo.left) {
        return;
      }
      const left = Math.max(geo.left, geo.x(time.values[k] - step));
      use(geo.high > geo.low ? (value - geo.low) / (geo.high - geo.low) : 1);
      g.fillRect(left, geo.top(i), Math.max(1, right - left - options.cellGap), Math.max(1, geo.rowHeight - options.cellGap));
    });
  });
  g.globalAlpha = 1;
  g.fillStyle = theme.colors.text.primary;
  g.textAlign = 'right';
  const every = Math.ceil(18 / geo.rowHeight);
  rows.forEach((row, i) => i % every === 0 && g.fillText(geo.bound(row.name), geo.left - 6, geo.top(i) + Math.min(10, geo.rowHeight)));
  if (options.yAxis.axisLabel) {
    g.save();
    g.translate(12, geo.plotHeight / 2);
    g.rotate(-Math.PI / 2);
    g.textAlign = 'center';
    g.fillText(options.yAxis.axisLabel, 0, 0);
    g.restore();
  }
  g.textAlign = 'center';
  for (const { at, label } of timeTicks(geo.from, geo.to, geo.plotWidth)) {
    g.fillText(label, geo.x(at), geo.plotHeight + 18);
  }
  if (geo.legendHeight && !geo.empty) {
    const format = getValueFormat(options.cellValues?.unit || 'short');
    for (let i = 0; i < SCALE_WIDTH; i++) {
      use(i / (SCALE_WIDTH - 1));
      g.fillRect(geo.left + i, height - 24, 1, 8);
    }
    g.globalAlpha = 1;
    g.fillStyle = theme.colors.text.primary;
    g.fillText(text(format(geo.low)), geo.left, height - 3);
    g.fillText(text(format(geo.high)), geo.left + SCALE_WIDTH, height - 3);
  }
}

export function HeatmapPanel({ frames, options, width, height, timeRange, timeZone, fieldConfig, theme, title }) {
  const canvas = useRef(null);
  const geo = useRef(null);
  const [tip, setTip] = useState(null);
  const rows = rowsOf(frames);
  useEffect(() => {
    if (!rows.length) {
      return;
    }
    const ratio = window.devicePixelRatio || 1;
    Object.assign(canvas.current, { width: width * ratio, height: height * ratio });
    const g = canvas.current.getContext('2d');
    g.scale(ratio, ratio);
    g.font = `12px ${theme.typography.fontFamily}`;
    const panel = { rows, options, width, height, timeRange, theme };
    geo.current = geometry({ ...panel, measure: (words) => g.measureText(words).width });
    draw(g, panel, geo.current);
  });
  if (!rows.length) {
    return <NoData fieldConfig={fieldConfig} />;
  }
  const point = ({ nativeEvent: { offsetX: x, offsetY: y } }) => {
    const { left, plotWidth, plotHeight, from, to, rowHeight, bound } = geo.current;
    const at = from + ((x - left) / plotWidth) * (to - from);
    const i = options.yAxis.reverse ? Math.floor(y / rowHeight) : rows.length - 1 - Math.floor(y / rowHeight);
    if (x < left || y > plotHeight || !rows[i]) {
      return setTip(null);
    }
    const { field, time } = rows[i];
    const k = time.values.findIndex((t) => t >= at);
    const bounds = `${i ? bound(rows[i - 1].name) : '0'} – ${bound(rows[i].name)}`;
    return setTip(k < 0 ? null : { x, y, time: dateTimeFormat(time.values[k], { timeZone }), words: `${bounds}: ${text(getValueFormat(options.cellValues?.unit || 'short')(field.values[k] ?? 0))}` });
  };
  return (
    <div style={{ position: 'relative' }}>
      <canvas ref={canvas} style={{ width, height }} role="img" aria-label={`Heatmap: ${title}`} onMouseMove={point} onMouseLeave={() => setTip(null)} />
      {tip && (
        <div style={{ position: 'absolute', pointerEvents: 'none', padding: 8, left: Math.min(tip.x + 12, width - 190), top: Math.max(0, tip.y - 48), borderRadius: 2, zIndex: 2,
          background: theme.colors.background.elevated ?? theme.colors.background.primary, border: `1px solid ${theme.colors.border.medium}`, ...theme.typography.bodySmall }}>
          <div>{tip.time}</div>
          <div>{tip.words}</div>
        </div>
      )}
    </div>
  );
}
