// What fires now, on every page.
import { textUtil } from '@grafana/data';
import { Icon } from '@grafana/ui';
import { alertHref } from '../model/links.js';

// An alert that always fires, to show that the chain works, has this severity: nobody need act.
const NOBODYS = 'none';
const HIDDEN_LABELS = new Set(['alertname', 'severity']);

function timeParams() {
  const params = new URLSearchParams(window.location.search);
  return new URLSearchParams([...params].filter(([name]) => name === 'from' || name === 'to'));
}

function FiringAlert({ alert }) {
  const { alertname, severity } = alert.labels;
  const { summary, dashboard_url: dashboard, runbook_url: runbook } = alert.annotations ?? {};
  const href = dashboard && alertHref(dashboard, timeParams());
  const labels = Object.entries(alert.labels).filter(([name]) => !HIDDEN_LABELS.has(name)).map(([name, value]) => `${name}=${value}`).join(', ');
  return (
    <li title={labels}>
      <Icon name="exclamation-circle" aria-hidden />
      <span className="alert-name">{alertname}</span>
      {severity && <span className="alert-detail">{severity}</span>}
      <span>{summary || labels}</span>
      {href && <a href={href}>panel</a>}
      {runbook && <a href={textUtil.sanitizeUrl(runbook)} target="_blank" rel="noreferrer">runbook</a>}
    </li>
  );
}

export function AlertBar({ alerts: { active, known, error } }) {
  const firing = active.filter((alert) => alert.state === 'firing' && alert.labels.severity !== NOBODYS);
  return (
    <section className="alert-bar" aria-label="Firing alerts" role="status" data-firing={firing.length > 0} data-failed={Boolean(error)}>
      {error && <span>Alerts are not known: {error}</span>}
      {known && !firing.length && <span className="alert-detail">No alert is firing.</span>}
      {firing.length > 0 && <ul>{firing.map((alert, i) => <FiringAlert key={i} alert={alert} />)}</ul>}
    </section>
  );
}
