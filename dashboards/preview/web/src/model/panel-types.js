// What a panel has where its JSON does not say, by panel type, and which types there are.
const reduce = { reduceOptions: { values: false, calcs: ['lastNotNull'], fields: '' }, orientation: 'auto', text: {} };
const legend = { legend: { showLegend: true, displayMode: 'list', placement: 'bottom', calcs: [] } };
const tooltip = { tooltip: { mode: 'single', sort: 'none', hideZeros: false } };
const hideFrom = { tooltip: false, viz: false, legend: false };

export const PANEL_TYPES = {
  timeseries: {
    color: 'palette-classic',
    options: { ...legend, ...tooltip },
    custom: {
      drawStyle: 'line', lineInterpolation: 'linear', barAlignment: 0, barWidthFactor: 0.6, lineWidth: 1, fillOpacity: 0,
      gradientMode: 'none', spanNulls: false, insertNulls: false, showPoints: 'auto', pointSize: 5,
      stacking: { mode: 'none', group: 'A' }, axisPlacement: 'auto', axisLabel: '', axisColorMode: 'text',
      axisBorderShow: false, axisCenteredZero: false, scaleDistribution: { type: 'linear' }, hideFrom, thresholdsStyle: { mode: 'off' },
    },
  },
  stat: {
    options: {
      ...reduce, graphMode: 'area', colorMode: 'value', justifyMode: 'auto', textMode: 'auto', wideLayout: true,
      showPercentChange: false, percentChangeColorMode: 'standard',
    },
  },
  gauge: { options: { ...reduce, showThresholdLabels: false, showThresholdMarkers: true, sizing: 'auto', minVizWidth: 75, minVizHeight: 75 } },
  bargauge: {
    options: {
      ...reduce, displayMode: 'gradient', valueMode: 'color', namePlacement: 'auto', showUnfilled: true, sizing: 'auto',
      minVizWidth: 8, minVizHeight: 16, maxVizHeight: 300,
    },
  },
  table: { options: { showHeader: true, cellHeight: 'sm', frameIndex: 0 }, custom: { align: 'auto', cellOptions: { type: 'auto' }, inspect: false } },
  heatmap: {
    options: {
      calculate: false, cellGap: 1, color: { mode: 'scheme', scheme: 'Oranges', fill: 'dark-orange', steps: 64, exponent: 0.5, reverse: false },
      filterValues: { le: 1e-9 }, rowsFrame: { layout: 'auto' }, yAxis: { axisPlacement: 'left', reverse: false }, legend: { show: true },
    },
    custom: { hideFrom },
  },
  'state-timeline': {
    color: 'continuous-GrYlRd',
    options: { ...legend, showValue: 'auto', mergeValues: true, rowHeight: 0.9, alignValue: 'left' },
    custom: { lineWidth: 0, fillOpacity: 70, hideFrom },
  },
  'status-history': {
    color: 'continuous-GrYlRd',
    options: { ...legend, showValue: 'auto', rowHeight: 0.9, colWidth: 0.9 },
    custom: { lineWidth: 1, fillOpacity: 70, hideFrom },
  },
  piechart: {
    color: 'palette-classic',
    options: { ...reduce, pieType: 'pie', displayLabels: [], legend: { showLegend: true, displayMode: 'list', placement: 'bottom', values: [] } },
    custom: { hideFrom },
  },
  barchart: {
    color: 'palette-classic',
    options: { ...legend, orientation: 'auto', showValue: 'auto', stacking: 'none', groupWidth: 0.7, barWidth: 0.97 },
    custom: { lineWidth: 1, fillOpacity: 80, hideFrom },
  },
  text: { options: { mode: 'markdown', content: '' } },
  alertlist: { options: { maxItems: 20, stateFilter: { firing: true, pending: true, noData: true, normal: false, error: true } } },
};

/** Panel types that show something without a query. */
export const WITHOUT_QUERY = new Set(['text', 'alertlist', 'row']);
