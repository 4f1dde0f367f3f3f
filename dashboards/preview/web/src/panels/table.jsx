// A table: the first frame, or the one that the options name.
import { TableNG } from '@grafana/ui/unstable';
import { NoData } from './common.jsx';

export function TablePanel({ frames, options, width, height, timeRange, fieldConfig }) {
  const frame = frames[options.frameIndex] ?? frames[0];
  if (!frame?.fields.length || !frame.length) {
    return <NoData fieldConfig={fieldConfig} />;
  }
  return (
    <TableNG data={frame} width={width} height={height} noHeader={!options.showHeader} cellHeight={options.cellHeight} sortBy={options.sortBy} resizable
      initialSortBy={options.sortBy} timeRange={timeRange} fieldConfig={fieldConfig} noValue={fieldConfig.defaults.noValue} structureRev={1}
      enableVirtualization={false} enablePagination={options.footer?.enablePagination} frozenColumns={options.frozenColumns?.left} transparent={false} />
  );
}
