// One cycle: the time range and variables that all panels of a board show together.
import { useEffect, useRef, useState } from 'react';
import { loadAnnotations } from '../model/annotations.js';
import { timeRange } from '../model/time.js';
import { resolveVariables } from '../templating/variables.js';

/** The part of the address that decides what is queried, as one comparable text. */
export function queryPart(search) {
  const relevant = [...new URLSearchParams(search)].filter(([name]) => name === 'from' || name === 'to' || name.startsWith('var-'));
  return new URLSearchParams(relevant).toString();
}

/**
 * A new cycle whenever the address, the time zone or `tick` changes: { number, range, templates, settings,
 * annotations }. The one before stays until the next is ready.
 */
export function useCycle(board, settings, search, timeZone, tick, annotationIsOn) {
  const [cycle, setCycle] = useState(null);
  const number = useRef(0);
  const query = queryPart(search);
  useEffect(() => {
    const control = new AbortController();
    const params = new URLSearchParams(query);
    const range = timeRange(params.get('from') ?? board.time?.from ?? 'now-1h', params.get('to') ?? board.time?.to ?? 'now', timeZone);
    const asked = (name) => (params.has(`var-${name}`) ? params.getAll(`var-${name}`) : undefined);
    resolveVariables(board, range, asked, settings).then(async (templates) => {
      const { signal } = control;
      const annotations = await loadAnnotations(board, { range, templates, settings, isOn: annotationIsOn, signal });
      if (!signal.aborted) {
        number.current += 1;
        setCycle({ number: number.current, range, templates, settings, annotations });
      }
    });
    return () => control.abort();
  }, [board, settings, query, timeZone, tick, annotationIsOn]);
  return cycle;
}
