// Lines, areas and bars over time, with tooltip, zoom, a legend that hides, and marks of annotations.
import { useLayoutEffect, useMemo, useRef, useState } from 'react';
import { FieldType, applyNullInsertThreshold, dateTimeFormat, getFieldDisplayName } from '@grafana/data';
import {
  PanelContextProvider, SeriesVisibilityChangeMode, TimeSeries, TooltipDisplayMode, TooltipPlugin2, VizTooltipContent, VizTooltipHeader,
  VizTooltipWrapper, getFieldDisplayItems, usePanelContext, useTheme2,
} from '@grafana/ui';
import { NoData, isTimeFrame } from './common.jsx';

/** Vertical lines where something happened, bands where it lasted. */
function AnnotationMarks({ config, annotations }) {
  const theme = useTheme2();
  const current = useRef({ annotations, theme });
  const plot = useRef(null);
  current.current = { annotations, theme };
  useLayoutEffect(() => {
    config.addHook('init', (u) => {
      plot.current = u;
    });
    config.addHook('draw', (u) => {
      const { ctx, bbox } = u;
      ctx.save();
      ctx.beginPath();
      ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
      ctx.clip();
      for (const { color, events } of current.current.annotations) {
        ctx.fillStyle = ctx.strokeStyle = current.current.theme.visualization.getColorByName(color);
        ctx.lineWidth = devicePixelRatio;
        ctx.setLineDash([5 * devicePixelRatio, 4 * devicePixelRatio]);
        for (const { from, to } of events) {
          const [left, right] = [u.valToPos(from, 'x', true), u.valToPos(to, 'x', true)];
          ctx.globalAlpha = 0.12;
          ctx.fillRect(left, bbox.top, Math.max(0, right - left), bbox.height);
          ctx.globalAlpha = 0.9;
          for (const x of from === to ? [left] : [left, right]) {
            ctx.beginPath();
            ctx.moveTo(x, bbox.top);
            ctx.lineTo(x, bbox.top + bbox.height);
            ctx.stroke();
          }
        }
      }
      ctx.restore();
    });
  }, [config]);
  useLayoutEffect(() => plot.current?.redraw(false), [annotations, theme]);
  return null;
}

function Tooltip({ frame, dataIdxs, seriesIdx, isPinned, options, timeZone, annotations }) {
  const time = frame.fields[0];
  const index = dataIdxs.find((i) => i != null);
  const at = time.values[index];
  const items = getFieldDisplayItems(frame.fields, time, dataIdxs, seriesIdx, options.tooltip.mode, options.tooltip.sort, (field) => field.type === FieldType.number || field.type === FieldType.enum);
  const near = annotations.flatMap(({ name, color, events }) =>
    events.filter((e) => e.from - (time.config.interval ?? 0) <= at && at <= e.to + (time.config.interval ?? 0)).map((e) => ({ label: name, value: e.title || e.text, color })));
  return (
    <VizTooltipWrapper>
      <VizTooltipHeader item={{ label: '', value: dateTimeFormat(at, { timeZone }) }} isPinned={isPinned} />
      <VizTooltipContent items={[...items, ...near]} isPinned={isPinned} />
    </VizTooltipWrapper>
  );
}

// What is not finite is not drawn; which names are hidden is the reader's choice. Where steps are missing the
// line breaks: the chart itself sees to that for its first frame only.
function graphable(frames, hidden) {
  return frames.filter((f) => f.length && isTimeFrame(f)).map((frame) => applyNullInsertThreshold({ frame })).map((frame) => ({
    ...frame,
    fields: frame.fields.map((field) => {
      if (field.type !== FieldType.number) {
        return field;
      }
      const viz = Boolean(field.config.custom?.hideFrom?.viz) || hidden(getFieldDisplayName(field, frame, frames));
      return {
        ...field,
        values: field.values.map((v) => (Number.isFinite(v) ? v : null)),
        config: { ...field.config, custom: { ...field.config.custom, hideFrom: { ...field.config.custom?.hideFrom, viz } } },
      };
    }),
  }));
}

export function TimeSeriesPanel({ frames, options, width, height, timeRange, timeZone, fieldConfig, annotations, onZoom }) {
  const [shown, setShown] = useState([]);
  const context = usePanelContext();
  const data = useMemo(() => graphable(frames, (name) => shown.length > 0 && !shown.includes(name)), [frames, shown]);
  // Colours, units and thresholds are in the plot's configuration: it is made anew with every structure.
  const structure = useMemo(() => JSON.stringify(data.map((f) => f.fields.map((x) => [x.config.displayNameFromDS ?? x.name, x.config.unit, x.config.color, x.config.custom]))), [data]);
  const revision = useRef({ structure: '', number: 1 });
  if (revision.current.structure !== structure) {
    revision.current = { structure, number: revision.current.number + 1 };
  }
  if (!data.length) {
    return <NoData fieldConfig={fieldConfig} />;
  }
  const toggle = (name, mode) =>
    setShown((before) => {
      if (mode !== SeriesVisibilityChangeMode.AppendToSelection) {
        return before.length === 1 && before[0] === name ? [] : [name];
      }
      return before.includes(name) ? before.filter((other) => other !== name) : [...before, name];
    });
  const multi = options.tooltip.mode === TooltipDisplayMode.Multi;
  return (
    <PanelContextProvider value={{ ...context, onToggleSeriesVisibility: toggle }}>
      <TimeSeries frames={data} structureRev={revision.current.number} width={width} height={height} timeRange={timeRange} timeZone={timeZone} legend={options.legend} options={options}>
        {(config, aligned) => (
          <>
            {options.tooltip.mode !== TooltipDisplayMode.None && (
              <TooltipPlugin2 config={config} hoverMode={multi ? 1 : 0} queryZoom={({ from, to }) => onZoom(from, to)}
                render={(_plot, dataIdxs, seriesIdx, isPinned) => (
                  <Tooltip frame={aligned} dataIdxs={dataIdxs} seriesIdx={seriesIdx} isPinned={isPinned} options={options} timeZone={timeZone} annotations={annotations} />
                )} />
            )}
            <AnnotationMarks config={config} annotations={annotations} />
          </>
        )}
      </TimeSeries>
    </PanelContextProvider>
  );
}
