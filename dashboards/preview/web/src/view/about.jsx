// What this page is, and what it is not.
import { Modal } from '@grafana/ui';

const LIMITS = [
  'It shows dashboards; it does not edit, save or share them, and it knows no users.',
  'Prometheus is its only data source. Only its query interface can be reached through this page, and only to read.',
  'Gauge, heatmap, state timeline, status history, pie chart, bar chart and alert list are drawn more simply than in Grafana.',
  'Not drawn: logs, histogram, XY chart, trend, candlestick, map, canvas, node graph, news and lists of dashboards; library panels; expressions; ad hoc filters; native histograms; exemplars.',
  'A heatmap needs buckets (format: heatmap); it does not compute them from values.',
  'Alerts are those that Prometheus evaluates. Silences and notifications are Alertmanager’s: it does not ask it.',
];

export function About({ settings, onClose }) {
  return (
    <Modal title="About this preview" isOpen onDismiss={onClose} ariaLabel="About this preview">
      <p>
        This page draws the kit’s dashboards for Grafana without a Grafana, with Grafana’s own published libraries. It is a preview: for daily work, load the same
        dashboards into Grafana.
      </p>
      {settings && <p>Prometheus: {settings.prometheus}, scrape interval {settings.scrapeInterval}.</p>}
      <h3>Limits</h3>
      <ul style={{ paddingLeft: 20 }}>{LIMITS.map((limit) => <li key={limit}>{limit}</li>)}</ul>
      <p style={{ marginTop: 16 }}>
        <a href="/licences.txt" target="_blank" style={{ textDecoration: 'underline' }}>Licences of the libraries in this page</a>
      </p>
    </Modal>
  );
}
