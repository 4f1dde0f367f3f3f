// What the page asks its server for beside the panels' queries.
import { useCallback, useEffect, useState } from 'react';
import { get } from '../prometheus/client.js';

const ALERTS_EVERY_MS = 10_000;

async function fetchJson(url) {
  const response = await fetch(url);
  const body = await response.json().catch(() => ({}));
  if (!response.ok) {
    throw new Error(body.error ?? `HTTP ${response.status} from ${url}`);
  }
  return body;
}

/** { data } or { error } of a JSON document, asked for once. */
export function useJson(url) {
  const [state, setState] = useState({});
  useEffect(() => {
    let wanted = true;
    setState({});
    fetchJson(url).then(
      (data) => wanted && setState({ data }),
      (error) => wanted && setState({ error: error.message }),
    );
    return () => {
      wanted = false;
    };
  }, [url]);
  return state;
}

/** Calls the function every so many milliseconds while the page is visible; none for 0. */
export function useEvery(ms, callback) {
  useEffect(() => {
    if (!ms) {
      return undefined;
    }
    const timer = setInterval(() => !document.hidden && callback(), ms);
    return () => clearInterval(timer);
  }, [ms, callback]);
}

const ORDER = { critical: 0, warning: 1 };
const byUrgency = (a, b) => (ORDER[a.labels.severity] ?? 2) - (ORDER[b.labels.severity] ?? 2) || a.labels.alertname.localeCompare(b.labels.alertname);

/** The active alerts of Prometheus, the most urgent first; or why they are not known. */
export function useAlerts() {
  const [state, setState] = useState({ active: [], known: false });
  const load = useCallback(() => {
    get('alerts').then(
      ({ alerts }) => setState({ active: [...alerts].sort(byUrgency), known: true }),
      (error) => setState({ active: [], known: false, error: error.message }),
    );
  }, []);
  useEffect(load, [load]);
  useEvery(ALERTS_EVERY_MS, load);
  return state;
}
