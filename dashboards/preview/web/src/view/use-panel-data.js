// A panel's data for the current cycle.
import { useEffect, useState } from 'react';
import { FieldType } from '@grafana/data';
import { useTheme2 } from '@grafana/ui';
import { complete, processFrames } from '../model/fields.js';
import { WITHOUT_QUERY } from '../model/panel-types.js';
import { runQueries } from '../model/queries.js';
import { panelRange } from '../model/time.js';

const hasValues = (frames) => frames.some((frame) => frame.fields.some((field) =>
  field.values.some((value) => (field.type === FieldType.number ? value != null && !Number.isNaN(value) : field.type === FieldType.string && value))));

/**
 * Runs the queries once a cycle, and prepares what they gave for the current theme.
 * Gives { view, state }: view is undefined until there is something to draw; state is "loading", "done",
 * "empty" (no value at all) or "error".
 */
export function usePanelData(item, cycle, width, timeZone) {
  const theme = useTheme2();
  const [raw, setRaw] = useState(null);
  const [view, setView] = useState(null);
  const { panel, scopedVars } = item;

  useEffect(() => {
    const control = new AbortController();
    const { range, templates, settings, number } = cycle;
    const own = panelRange(panel, range, timeZone);
    const context = { range: own, templates, settings, scopedVars, maxDataPoints: panel.maxDataPoints || Math.max(50, Math.floor(width)), signal: control.signal };
    const queries = WITHOUT_QUERY.has(panel.type) ? Promise.resolve([]) : runQueries(panel, context);
    queries.then(
      (results) => setRaw({ number, results, range: own, templates }),
      (error) => !control.signal.aborted && setRaw({ number, results: [{ refId: '', expr: '', notes: [], series: [], frames: [], error: error.message }], range: own, templates }),
    );
    return () => control.abort();
    // The width decides how many points are asked for; resizing alone asks for none anew.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [panel, scopedVars, cycle]);

  useEffect(() => {
    if (!raw) {
      return undefined;
    }
    let wanted = true;
    const replace = (text, vars, format) => raw.templates.replace(text, { ...scopedVars, ...vars }, format);
    const { options, fieldConfig } = complete(panel);
    const errors = raw.results.map((result) => result.error).filter(Boolean);
    const finish = (frames, problems) => wanted && setView({
      number: raw.number, options, fieldConfig, replace, frames, timeRange: raw.range, results: raw.results, theme, error: problems.join('\n'),
      state: problems.length ? 'error' : WITHOUT_QUERY.has(panel.type) || hasValues(frames) ? 'done' : 'empty',
    });
    processFrames(panel, fieldConfig, raw.results.flatMap((result) => result.frames), { replace, theme, timeZone }).then(
      (frames) => finish(frames, errors),
      (error) => finish([], [...errors, error.message]),
    );
    return () => {
      wanted = false;
    };
  }, [raw, theme, timeZone, panel, scopedVars]);

  return { view, state: view?.number === cycle.number ? view.state : 'loading' };
}
