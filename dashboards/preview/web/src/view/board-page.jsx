// One board: its controls, and its panels.
import { useCallback, useEffect, useMemo, useState } from 'react';
import { rangeUtil } from '@grafana/data';
import { Alert, Button, LoadingPlaceholder } from '@grafana/ui';
import { setParams } from '../model/address.js';
import { CELL, GAP, COLUMNS, findPanel, layOut } from '../model/layout.js';
import { AnnotationControls } from './annotation-controls.jsx';
import { BoardLinks } from './board-links.jsx';
import { Grid } from './grid.jsx';
import { useEvery, useJson } from './resources.js';
import { TimeControls } from './time-controls.jsx';
import { useCycle } from './use-cycle.js';
import { VariableControls } from './variable-controls.jsx';

/** A set of names that a click adds to or removes from. */
function useToggles() {
  const [names, setNames] = useState(() => new Set());
  const toggle = useCallback((name) => setNames((before) => {
    const after = new Set(before);
    if (!after.delete(name)) {
      after.add(name);
    }
    return after;
  }), []);
  return [names, toggle];
}

/** The panel of ?viewPanel=7 (or panel-7), as high as the window allows. */
function alone(board, templates, asked) {
  const id = Number(/(\d+)$/.exec(asked)?.[1]);
  const h = Math.max(8, Math.floor((window.innerHeight - 240) / (CELL + GAP)));
  return findPanel(board, templates.variables, id).map((item, i) => ({ ...item, gridPos: { x: 0, y: i * h, w: COLUMNS, h } }));
}

function Board({ board, boards, search, settings, alerts }) {
  const params = new URLSearchParams(search);
  const kiosk = params.has('kiosk');
  const viewPanel = params.get('viewPanel');
  const refresh = params.get('refresh') ?? board.refresh ?? '';
  const [timeZone, setTimeZone] = useState(board.timezone === 'utc' ? 'utc' : 'browser');
  const [tick, setTick] = useState(0);
  const [toggledRows, toggleRow] = useToggles();
  const [toggledAnnotations, toggleAnnotation] = useToggles();
  const annotationIsOn = useCallback(({ name, enable }) => (enable !== false) !== toggledAnnotations.has(name), [toggledAnnotations]);
  const again = useCallback(() => setTick((before) => before + 1), []);
  useEvery(refresh ? rangeUtil.intervalToMs(refresh) : 0, again);
  const cycle = useCycle(board, settings, search, timeZone, tick, annotationIsOn);

  const items = useMemo(() => {
    if (!cycle) {
      return [];
    }
    return viewPanel ? alone(board, cycle.templates, viewPanel) : layOut(board, cycle.templates.variables, toggledRows);
  }, [board, cycle, viewPanel, toggledRows]);

  useEffect(() => {
    document.title = `${board.title} (preview)`;
  }, [board]);

  if (!cycle) {
    return <LoadingPlaceholder text="Asking Prometheus…" />;
  }
  return (
    <>
      <div className="toolbar">
        <h1>{board.title}</h1>
        {!kiosk && <BoardLinks board={board} boards={boards} templates={cycle.templates} />}
        {!kiosk && <TimeControls range={cycle.range} timeZone={timeZone} refresh={refresh} onTimeZone={setTimeZone} onRefresh={again} />}
      </div>
      {!kiosk && (
        <div className="controls">
          <VariableControls variables={cycle.templates.variables} />
          <AnnotationControls annotations={cycle.annotations} timeZone={timeZone} onToggle={toggleAnnotation} />
        </div>
      )}
      {viewPanel && !kiosk && (
        <div style={{ marginBottom: 8 }}>
          <Button variant="secondary" size="sm" icon="arrow-left" onClick={() => setParams({ viewPanel: undefined })}>Back to the dashboard</Button>
        </div>
      )}
      {viewPanel && !items.length && <Alert severity="warning" title={`This dashboard has no panel ${viewPanel}`} />}
      <Grid items={items} cycle={cycle} timeZone={timeZone} alerts={alerts} alone={Boolean(viewPanel)} onToggleRow={toggleRow} />
    </>
  );
}

export function BoardPage({ uid, boards, ...rest }) {
  const { data: board, error } = useJson(`/preview/boards/${encodeURIComponent(uid)}.json`);
  if (error) {
    return (
      <div style={{ paddingTop: 16 }}>
        <Alert severity="error" title={error}><a href="/" style={{ textDecoration: 'underline' }}>All dashboards</a></Alert>
      </div>
    );
  }
  return board ? <Board board={board} boards={boards} {...rest} /> : <LoadingPlaceholder text="Loading…" />;
}
