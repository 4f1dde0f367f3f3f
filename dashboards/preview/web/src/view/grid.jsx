// The panels of a board in their places.
import { useLayoutEffect, useRef, useState } from 'react';
import { Icon } from '@grafana/ui';
import { boxes } from '../model/layout.js';
import { Panel } from './panel.jsx';

function useWidth() {
  const ref = useRef(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry.contentRect.width)));
    observer.observe(ref.current);
    setWidth(Math.floor(ref.current.clientWidth));
    return () => observer.disconnect();
  }, []);
  return [ref, width];
}

function Row({ item, templates, onToggle }) {
  return (
    <h2 style={{ height: '100%', margin: 0 }}>
      <button type="button" className="row-title" aria-expanded={!item.folded} onClick={() => onToggle(item.key)} data-row={item.key}>
        <Icon name={item.folded ? 'angle-right' : 'angle-down'} aria-hidden />
        {templates.replace(item.panel.title, item.scopedVars, 'text')}
        {item.folded && <small>({item.count} panels)</small>}
      </button>
    </h2>
  );
}

export function Grid({ items, cycle, timeZone, alerts, alone, onToggleRow }) {
  const [ref, width] = useWidth();
  const { placed, height } = boxes(items, width);
  return (
    <div ref={ref} style={{ position: 'relative', height }} data-grid data-cycle={cycle.number} data-columns={placed.every(({ box }) => box.left === 0) ? 1 : 24}>
      {width > 0 && placed.map(({ item, box }) => (
        <div key={item.key} style={{ position: 'absolute', ...box }}>
          {item.panel.type === 'row'
            ? <Row item={item} templates={cycle.templates} onToggle={onToggleRow} />
            : <Panel item={item} box={box} cycle={cycle} timeZone={timeZone} alerts={alerts} alone={alone} />}
        </div>
      ))}
    </div>
  );
}
