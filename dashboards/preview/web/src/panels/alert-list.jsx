// The alerts that Prometheus has active.
import { Icon } from '@grafana/ui';
import { Message } from './common.jsx';

const ICONS = { firing: 'exclamation-circle', pending: 'clock-nine' };

export function AlertListPanel({ alerts, options, replace, theme }) {
  const name = replace(options.alertName || '').toLowerCase();
  const states = { firing: options.stateFilter.firing, pending: options.stateFilter.pending };
  const shown = alerts.filter((alert) => alert.labels.alertname.toLowerCase().includes(name) && states[alert.state]).slice(0, options.maxItems);
  if (!shown.length) {
    return <Message>No alerts</Message>;
  }
  const color = { firing: theme.colors.error.text, pending: theme.colors.warning.text };
  return (
    <ul style={{ listStyle: 'none', height: '100%', overflow: 'auto' }}>
      {shown.map((alert, i) => (
        <li key={i} style={{ display: 'flex', gap: 8, padding: 8, marginBottom: 4, background: theme.colors.background.secondary, borderRadius: 2 }}>
          <Icon name={ICONS[alert.state]} style={{ color: color[alert.state] }} />
          <div>
            <div>{alert.labels.alertname}</div>
            <div style={{ color: theme.colors.text.secondary, fontSize: 12 }}>{alert.state}: {alert.annotations?.summary ?? ''}</div>
          </div>
        </li>
      ))}
    </ul>
  );
}
