// Where panels lie on Grafana's grid of 24 columns, after rows and panels are repeated.

export const COLUMNS = 24;
export const CELL = 30;
export const GAP = 8;
export const NARROW = 700;

/** One [scopedVars] for each value of the variable that is repeated by, or the given ones alone. */
function repeats(name, variables, scopedVars) {
  const variable = name ? variables.find((v) => v.name === name) : undefined;
  const values = variable ? [variable.value].flat() : [];
  if (!values.length) {
    return [scopedVars];
  }
  return values.map((value) => {
    const text = variable.options.find((o) => o.value === value)?.text ?? value;
    return { ...scopedVars, [name]: { value, text, multi: variable.multi, includeAll: variable.includeAll } };
  });
}

const overlap = (a, b) => a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;

// Grafana's grid lets panels float up, and pushes down one that overlaps another.
function compact(items, top) {
  const placed = [];
  for (const { gridPos } of [...items].sort((a, b) => a.gridPos.y - b.gridPos.y || a.gridPos.x - b.gridPos.x)) {
    while (gridPos.y > top && !placed.some((other) => overlap(other, { ...gridPos, y: gridPos.y - 1 }))) {
      gridPos.y -= 1;
    }
    while (placed.some((other) => overlap(other, gridPos))) {
      gridPos.y += 1;
    }
    placed.push(gridPos);
  }
}

function place(panels, top, scopedVars, variables, rowKey) {
  const base = Math.min(...panels.map((panel) => panel.gridPos?.y ?? 0));
  const items = [];
  let shift = 0;
  for (const panel of panels) {
    const position = { x: 0, y: base, w: COLUMNS / 2, h: 8, ...panel.gridPos };
    const copies = repeats(panel.repeat, variables, scopedVars);
    const across = Boolean(panel.repeat) && panel.repeatDirection !== 'v';
    const perRow = across ? Math.min(panel.maxPerRow || 4, copies.length) : 1;
    copies.forEach((vars, i) => {
      const gridPos = { ...position, y: top + position.y - base + shift + Math.floor(i / perRow) * position.h };
      if (across) {
        Object.assign(gridPos, { x: (i % perRow) * (COLUMNS / perRow), w: COLUMNS / perRow });
      }
      items.push({ key: `${rowKey}/${panel.id}/${i}`, panel, scopedVars: vars, gridPos });
    });
    shift += (Math.ceil(copies.length / perRow) - 1) * position.h;
  }
  compact(items, top);
  return items;
}

/** Panels in reading order, gathered under their rows; a collapsed row carries its panels itself. */
function sectionsOf(board) {
  const sections = [{ row: null, panels: [], after: [] }];
  const order = (a, b) => (a.gridPos?.y ?? 0) - (b.gridPos?.y ?? 0) || (a.gridPos?.x ?? 0) - (b.gridPos?.x ?? 0);
  for (const panel of [...(board.panels ?? [])].sort(order)) {
    const last = sections.at(-1);
    if (panel.type === 'row') {
      sections.push({ row: panel, panels: panel.collapsed ? (panel.panels ?? []) : [], after: [] });
    } else {
      (last.row?.collapsed ? last.after : last.panels).push(panel);
    }
  }
  return sections;
}

/**
 * The board's visible items with their final gridPos: { key, panel, scopedVars, gridPos }, and for a row also
 * { folded, count }. toggled: keys of the rows whose state is the other one than that saved.
 */
export function layOut(board, variables, toggled) {
  const items = [];
  let y = 0;
  const add = (panels, vars, key) => {
    const placed = panels.length ? place(panels, y, vars, variables, key) : [];
    items.push(...placed);
    y = Math.max(y, ...placed.map((item) => item.gridPos.y + item.gridPos.h));
  };
  for (const { row, panels, after } of sectionsOf(board)) {
    for (const [copy, vars] of repeats(row?.repeat, variables, {}).entries()) {
      const key = row ? `row-${row.id}-${copy}` : 'top';
      const folded = Boolean(row) && Boolean(row.collapsed) !== toggled.has(key);
      if (row) {
        items.push({ key, panel: row, scopedVars: vars, gridPos: { x: 0, y, w: COLUMNS, h: 1 }, folded, count: panels.length });
        y += 1;
      }
      if (!folded) {
        add(panels, vars, key);
      }
      add(after, vars, `${key}-after`);
    }
  }
  return items;
}

/** Every panel of a board with this id, folded rows included: what ?viewPanel= shows. */
export function findPanel(board, variables, id) {
  const everyRow = new Set();
  for (const row of (board.panels ?? []).filter((p) => p.type === 'row' && p.collapsed)) {
    repeats(row.repeat, variables, {}).forEach((_vars, copy) => everyRow.add(`row-${row.id}-${copy}`));
  }
  return layOut(board, variables, everyRow).filter((item) => item.panel.type !== 'row' && item.panel.id === id);
}

/** Pixels of an item on a page of this width. */
export function pixels({ x, y, w, h }, width) {
  const column = (width - GAP * (COLUMNS - 1)) / COLUMNS;
  return { left: x * (column + GAP), top: y * (CELL + GAP), width: w * column + (w - 1) * GAP, height: h * CELL + (h - 1) * GAP };
}

/** Boxes for all items, and the height of the whole: on a narrow page one below the other. */
export function boxes(items, width) {
  if (width >= NARROW) {
    const placed = items.map((item) => ({ item, box: pixels(item.gridPos, width) }));
    return { placed, height: Math.max(0, ...placed.map(({ box }) => box.top + box.height)) };
  }
  let top = 0;
  const placed = [...items].sort((a, b) => a.gridPos.y - b.gridPos.y || a.gridPos.x - b.gridPos.x).map((item) => {
    const height = item.gridPos.h * CELL + (item.gridPos.h - 1) * GAP;
    const box = { left: 0, top, width, height };
    top += height + GAP;
    return { item, box };
  });
  return { placed, height: top };
}
