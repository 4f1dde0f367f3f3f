// Stat, gauge and bar gauge: one figure for each series.
import { VizOrientation } from '@grafana/data';
import { BarGauge, BigValue } from '@grafana/ui';
import { Linked, Repeater, displayValues, text, unnamedIfAlone } from './common.jsx';

export function StatPanel(panel) {
  const { options, timeRange, theme } = panel;
  return (
    <Repeater panel={panel} values={displayValues(panel, options.graphMode !== 'none')} autoGrid itemSpacing={3} renderValue={({ value, width, height, alignmentFactors, count }) => (
      <Linked value={value}>
        <BigValue value={value.display} count={count} width={width} height={height} theme={theme} alignmentFactors={alignmentFactors}
          sparkline={value.sparkline && { ...value.sparkline, timeRange }} colorMode={options.colorMode} graphMode={options.graphMode}
          justifyMode={options.justifyMode} textMode={options.textMode} text={options.text} disableWideLayout={!options.wideLayout}
          percentChangeColorMode={options.percentChangeColorMode} />
      </Linked>
    )} />
  );
}

export function BarGaugePanel(panel) {
  const { options, theme } = panel;
  const wide = panel.width > panel.height;
  const orientation = options.orientation === 'auto' ? (wide ? VizOrientation.Vertical : VizOrientation.Horizontal) : options.orientation;
  const manual = options.sizing === 'manual';
  const spacing = options.displayMode === 'lcd' ? 2 : 10;
  return (
    <Repeater panel={panel} values={displayValues(panel)} orientation={orientation} itemSpacing={spacing} minVizWidth={manual ? options.minVizWidth : 8}
      minVizHeight={manual ? options.minVizHeight : 16} maxVizHeight={options.maxVizHeight} renderValue={({ value, width, height, alignmentFactors, count }) => (
        <BarGauge value={unnamedIfAlone(count, value)} field={value.field} width={width} height={height} theme={theme} orientation={orientation}
          display={value.view && value.colIndex !== undefined ? value.view.getFieldDisplayProcessor(value.colIndex) : undefined}
          alignmentFactors={count > 1 ? alignmentFactors : undefined} text={options.text} itemSpacing={spacing} displayMode={options.displayMode}
          showUnfilled={options.showUnfilled} valueDisplayMode={options.valueMode} namePlacement={options.namePlacement} />
      )} />
  );
}

/** Path of an arc around a centre; angles in radians, clockwise from the top. */
export function arc(cx, cy, r, from, to) {
  const at = (angle) => [cx + r * Math.sin(angle), cy - r * Math.cos(angle)].join(' ');
  return `M ${at(from)} A ${r} ${r} 0 ${to - from > Math.PI ? 1 : 0} 1 ${at(to)}`;
}

// Grafana publishes no gauge: an arc with the threshold band outside, the value and the name.
const SWEEP = (110 / 180) * Math.PI;

function Gauge({ value, field, width, height, options, count, theme }) {
  const { title } = unnamedIfAlone(count, { field, display: value });
  const labelHeight = title ? Math.min(24, height * 0.16) : 0;
  const r = Math.max(10, Math.min(width / 2, (height - labelHeight) / 1.36) - 8);
  const [cx, cy] = [width / 2, r + 6];
  const thick = r * 0.22;
  const [min, max] = [field.min ?? 0, field.max ?? 100];
  const angle = (v) => -SWEEP + 2 * SWEEP * Math.min(1, Math.max(0, (v - min) / (max - min || 1)));
  const steps = field.thresholds?.steps ?? [];
  const start = (step) => (step.value === -Infinity ? min : field.thresholds.mode === 'percentage' ? min + ((max - min) * step.value) / 100 : step.value);
  const shown = text(value);
  const fontSize = options.text?.valueSize ?? Math.min(r * 0.42, ((r - thick - 5) * 3) / Math.max(3, shown.length));
  return (
    <svg width={width} height={height} role="img" aria-label={`${title ?? ''} ${shown}`.trim()} style={{ fontFamily: theme.typography.fontFamily }}>
      <path d={arc(cx, cy, r - 5 - thick / 2, -SWEEP, SWEEP)} fill="none" stroke={theme.colors.background.secondary} strokeWidth={thick} />
      {Number.isFinite(value.numeric) && (
        <path d={arc(cx, cy, r - 5 - thick / 2, -SWEEP, Math.max(angle(value.numeric), -SWEEP + 0.01))} fill="none" stroke={value.color} strokeWidth={thick} />
      )}
      {options.showThresholdMarkers && steps.map((step, i) => {
        const [from, to] = [angle(start(step)), steps[i + 1] ? angle(start(steps[i + 1])) : SWEEP];
        return to > from && <path key={i} d={arc(cx, cy, r - 1, from, to)} fill="none" stroke={theme.visualization.getColorByName(step.color)} strokeWidth={4} />;
      })}
      <text x={cx} y={cy + r * 0.08} textAnchor="middle" dominantBaseline="middle" fill={value.color} fontWeight={500} fontSize={fontSize}>{shown}</text>
      {title && (
        <text x={cx} y={height - labelHeight / 2} textAnchor="middle" dominantBaseline="middle" fill={theme.colors.text.primary}
          fontSize={options.text?.titleSize ?? Math.min(16, Math.max(10, (width * 1.7) / title.length))}>{title}</text>
      )}
    </svg>
  );
}

export function GaugePanel(panel) {
  return (
    <Repeater panel={panel} values={displayValues(panel)} minVizWidth={75} minVizHeight={75} renderValue={({ value, width, height, count }) => (
      <Linked value={value}>
        <Gauge value={value.display} field={value.field} width={width} height={height} count={count} options={panel.options} theme={panel.theme} />
      </Linked>
    )} />
  );
}
