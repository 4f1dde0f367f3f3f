// Pie chart and bar chart, drawn simply.
import { FieldType, getDisplayProcessor, getFieldDisplayName, getFieldSeriesColor } from '@grafana/data';
import { VizLayout, VizLegend } from '@grafana/ui';
import { NoData, displayValues, text } from './common.jsx';
import { arc } from './single-values.jsx';

const legendOf = (options, items) => options.legend.showLegend ? (
  <VizLayout.Legend placement={options.legend.placement}>
    <VizLegend placement={options.legend.placement} displayMode={options.legend.displayMode} items={items} />
  </VizLayout.Legend>
) : null;

export function PieChartPanel(panel) {
  const { options, width, height, fieldConfig, theme } = panel;
  const values = displayValues(panel).filter((v) => v.display.numeric > 0);
  const total = values.reduce((sum, v) => sum + v.display.numeric, 0);
  if (!total) {
    return <NoData fieldConfig={fieldConfig} />;
  }
  const percent = (v) => `${((100 * v.display.numeric) / total).toFixed(0)}%`;
  const words = (v, kind) => (kind === 'percent' ? percent(v) : kind === 'name' ? v.display.title : text(v.display));
  const items = values.map((v) => ({
    label: v.display.title ?? '', color: v.display.color, yAxis: 1,
    getDisplayValues: () => (options.legend.values ?? []).map((kind) => ({ text: words(v, kind), numeric: v.display.numeric, title: kind })),
  }));
  return (
    <VizLayout width={width} height={height} legend={legendOf(options, items)}>
      {(w, h) => {
        const r = Math.min(w, h) / 2 - 6;
        const thick = options.pieType === 'donut' ? r * 0.4 : r;
        let from = 0;
        return (
          <svg width={w} height={h} role="img" aria-label={values.map((v) => `${v.display.title} ${percent(v)}`).join(', ')}>
            {values.map((v, i) => {
              const sweep = Math.min((2 * Math.PI * v.display.numeric) / total, 2 * Math.PI - 1e-4);
              const middle = from + sweep / 2;
              const path = arc(w / 2, h / 2, r - thick / 2, from, from + sweep);
              from += sweep;
              return (
                <g key={i}>
                  <path d={path} fill="none" stroke={v.display.color} strokeWidth={thick}><title>{`${v.display.title}: ${text(v.display)} (${percent(v)})`}</title></path>
                  <text x={w / 2 + (r - thick / 2) * Math.sin(middle)} y={h / 2 - (r - thick / 2) * Math.cos(middle) + 4} textAnchor="middle" fontSize={12}
                    fill={theme.colors.getContrastText(v.display.color)}>{options.displayLabels.map((kind) => words(v, kind)).join(' ')}</text>
                </g>
              );
            })}
          </svg>
        );
      }}
    </VizLayout>
  );
}

export function BarChartPanel({ frames, options, width, height, fieldConfig, theme }) {
  const frame = frames[0];
  const numbers = frame?.fields.filter((f) => f.type === FieldType.number) ?? [];
  const xField = frame?.fields.find((f) => (options.xField ? f.name === options.xField : f.type === FieldType.string)) ?? frame?.fields.find((f) => f.type === FieldType.time);
  if (!numbers.length || !xField || !frame.length) {
    return <NoData fieldConfig={fieldConfig} />;
  }
  const items = numbers.map((f) => ({ label: getFieldDisplayName(f, frame, frames), color: getFieldSeriesColor(f, theme).color, yAxis: 1 }));
  const max = Math.max(...numbers.flatMap((f) => f.values).filter(Number.isFinite), 1e-9);
  const horizontal = options.orientation === 'horizontal';
  return (
    <VizLayout width={width} height={height} legend={legendOf(options, items)}>
      {(w, h) => {
        const [along, across] = horizontal ? [h, w - 160] : [w, h - 40];
        const group = along / frame.length;
        const bar = (group * options.groupWidth) / numbers.length;
        const name = (row) => text((xField.display ?? getDisplayProcessor())(xField.values[row]));
        const fits = Math.max(3, Math.floor((horizontal ? 94 : group) / 7));
        const short = (words) => (words.length > fits ? `${words.slice(0, fits - 1)}…` : words);
        return (
          <svg width={w} height={h} fontSize={12} fill={theme.colors.text.primary}>
            {Array.from({ length: frame.length }, (_, row) => (
              <g key={row}>
                {numbers.map((f, k) => {
                  const length = (across * Math.max(0, f.values[row] || 0)) / max;
                  const at = row * group + (group * (1 - options.groupWidth)) / 2 + k * bar;
                  const box = horizontal ? { x: 100, y: at, width: length, height: bar * options.barWidth } : { x: at, y: h - 20 - length, width: bar * options.barWidth, height: length };
                  const label = horizontal ? { x: box.x + length + 4, y: at + bar / 2 + 4, textAnchor: 'start' } : { x: at + bar / 2, y: box.y - 4, textAnchor: 'middle' };
                  return (
                    <g key={k}>
                      <rect {...box} fill={items[k].color} fillOpacity={(f.config.custom?.fillOpacity ?? 80) / 100} stroke={items[k].color}>
                        <title>{`${name(row)}: ${text(f.display(f.values[row]))}`}</title>
                      </rect>
                      {options.showValue !== 'never' && <text {...label}>{text(f.display(f.values[row]))}</text>}
                    </g>
                  );
                })}
                <text x={horizontal ? 94 : (row + 0.5) * group} y={horizontal ? (row + 0.5) * group + 4 : h - 5} textAnchor={horizontal ? 'end' : 'middle'}>{short(name(row))}</text>
              </g>
            ))}
          </svg>
        );
      }}
    </VizLayout>
  );
}
