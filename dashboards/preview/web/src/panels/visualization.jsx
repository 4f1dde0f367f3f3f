// One component for each panel type.
import { AlertListPanel } from './alert-list.jsx';
import { Message } from './common.jsx';
import { HeatmapPanel } from './heatmap.jsx';
import { BarChartPanel, PieChartPanel } from './shares.jsx';
import { BarGaugePanel, GaugePanel, StatPanel } from './single-values.jsx';
import { StatePanel } from './states.jsx';
import { TablePanel } from './table.jsx';
import { TextPanel } from './text.jsx';
import { TimeSeriesPanel } from './time-series.jsx';

const COMPONENTS = {
  timeseries: TimeSeriesPanel,
  stat: StatPanel,
  gauge: GaugePanel,
  bargauge: BarGaugePanel,
  table: TablePanel,
  heatmap: HeatmapPanel,
  'state-timeline': StatePanel,
  'status-history': (panel) => <StatePanel {...panel} history />,
  piechart: PieChartPanel,
  barchart: BarChartPanel,
  text: TextPanel,
  alertlist: AlertListPanel,
};

export function Visualization({ type, ...panel }) {
  const Component = COMPONENTS[type];
  return Component ? <Component {...panel} /> : <Message>Panels of type “{type}” are not drawn by this preview.</Message>;
}
