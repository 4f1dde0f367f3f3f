// What several panel types share.
import { FieldType, formattedValueToString, getDisplayValueAlignmentFactors, getFieldDisplayValues } from '@grafana/data';
import { VizRepeater, useTheme2 } from '@grafana/ui';

/** A display value as text. */
export const text = (display) => (display ? formattedValueToString(display) : '');

export function Message({ children }) {
  const { colors } = useTheme2();
  return (
    <div style={{ display: 'flex', height: '100%', alignItems: 'center', justifyContent: 'center', color: colors.text.secondary, textAlign: 'center' }}>
      {children}
    </div>
  );
}

export const NoData = ({ fieldConfig }) => <Message>{fieldConfig.defaults.noValue || 'No data'}</Message>;

export const isTimeFrame = (frame) => frame.fields.some((f) => f.type === FieldType.time) && frame.fields.some((f) => f.type === FieldType.number);

/** One display value for each series, reduced as the panel's options say. */
export const displayValues = ({ frames, options, fieldConfig, replace, theme, timeZone }, sparkline) =>
  getFieldDisplayValues({
    data: frames, reduceOptions: options.reduceOptions, fieldConfig, replaceVariables: replace, theme, timeZone, sparkline, percentChange: options.showPercentChange,
  });

export const Repeater = ({ panel, values, ...rest }) => (
  <VizRepeater source={panel.frames} renderCounter={1} width={panel.width} height={panel.height} orientation={panel.options.orientation}
    getValues={() => values} getAlignmentFactors={getDisplayValueAlignmentFactors} {...rest} />
);

/** A single value needs no name, unless the panel gives it one. */
export const unnamedIfAlone = (count, { field, display }) => (count <= 1 && !field.displayName ? { ...display, title: undefined } : display);

/** Wraps a value that has a data link in that link. */
export function Linked({ value, children }) {
  const link = value.hasLinks ? value.getLinks?.({})[0] : undefined;
  return link ? <a href={link.href} target={link.target} title={link.title} style={{ display: 'block', color: 'inherit' }}>{children}</a> : children;
}

const TICKS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400, 172800];

/** Round times across a plot: [{ at: milliseconds, label }]. */
export function timeTicks(from, to, width) {
  const step = (TICKS.find((seconds) => ((to - from) / 1000 / seconds) * 70 < width) ?? TICKS.at(-1)) * 1000;
  const days = step >= 43200e3;
  const ticks = [];
  const margin = (30 / width) * (to - from); // half a label
  for (let at = Math.ceil(from / step) * step; at < to - margin; at += step) {
    const date = new Date(at);
    const label = days ? `${date.getMonth() + 1}/${date.getDate()}` : date.toTimeString().slice(0, step < 60e3 ? 8 : 5);
    ticks.push({ at, label });
  }
  return ticks;
}
