// One panel: its frame, description, menu, state, and what it shows.
import { Component, useState } from 'react';
import { LoadingState, renderMarkdown, textUtil } from '@grafana/data';
import { Icon, IconButton, Menu, PanelChrome, Toggletip } from '@grafana/ui';
import { setParams } from '../model/address.js';
import { boardHref, urlHref } from '../model/links.js';
import { Visualization } from '../panels/visualization.jsx';
import { Inspect } from './inspect.jsx';
import { setRange } from './time-controls.jsx';
import { usePanelData } from './use-panel-data.js';

// Where nothing can hover, menus that appear on hovering would never be seen.
const TOUCH = window.matchMedia('(hover: none)').matches;

/** An error while drawing stays in its panel, and the next data try again. */
class Guard extends Component {
  state = {};
  static getDerivedStateFromError = (error) => ({ error });
  componentDidUpdate(before) {
    if (before.view !== this.props.view && this.state.error) {
      this.setState({ error: undefined });
    }
  }
  render() {
    const { error } = this.state;
    return error ? <div role="alert" data-panel-error="drawing">This panel cannot be drawn: {error.message}</div> : this.props.children;
  }
}

function Description({ title, markdown }) {
  return (
    <Toggletip title={title} content={<div className="markdown-html" dangerouslySetInnerHTML={{ __html: renderMarkdown(markdown) }} />} placement="bottom">
      <IconButton name="info-circle" size="md" aria-label={`What it means: ${title}`} />
    </Toggletip>
  );
}

function PanelLinks({ links, templates, scopedVars }) {
  return links.map((link, i) => {
    const href = link.dashboardUid ? boardHref(link.dashboardUid, link, templates) : urlHref(link, templates, scopedVars);
    const title = templates.replace(link.title, scopedVars, 'text');
    return <a key={i} href={textUtil.sanitizeUrl(href)} target={link.targetBlank ? '_blank' : undefined} title={title} aria-label={title}><Icon name="external-link-alt" /></a>;
  });
}

function PanelMenu({ alone, onInspect, hasQueries, id }) {
  return (
    <Menu>
      <Menu.Item label={alone ? 'Back to the dashboard' : 'View alone'} icon={alone ? 'arrow-left' : 'eye'} onClick={() => setParams({ viewPanel: alone ? undefined : String(id) })} />
      {hasQueries && <Menu.Item label="Queries and values" icon="info-circle" onClick={onInspect} />}
    </Menu>
  );
}

export function Panel({ item, box, cycle, timeZone, alerts, alone }) {
  const { panel, scopedVars } = item;
  const { view, state } = usePanelData(item, cycle, box.width, timeZone);
  const [inspecting, setInspecting] = useState(false);
  const { templates } = cycle;
  const title = templates.replace(panel.title, scopedVars, 'text');
  const description = panel.description && templates.replace(panel.description, scopedVars, 'text');
  const annotations = cycle.annotations.filter(({ panels }) => !panels?.ids?.length || panels.ids.includes(panel.id) !== Boolean(panels.exclude));
  const ownTime = (panel.timeFrom || panel.timeShift) && !panel.hideTimeOverride;
  const titleItems = (
    <>
      {description && <Description title={title} markdown={description} />}
      {panel.links?.length > 0 && <PanelLinks links={panel.links} templates={templates} scopedVars={scopedVars} />}
      {ownTime && <span>{panel.timeFrom ? `Last ${panel.timeFrom}` : ''} {panel.timeShift ? `${panel.timeShift} earlier` : ''}</span>}
    </>
  );
  const menu = <PanelMenu alone={alone} id={panel.id} hasQueries={Boolean(view?.results.length)} onInspect={() => setInspecting(true)} />;
  return (
    <div data-panel={panel.id} data-type={panel.type} data-title={title} data-state={state}>
      <PanelChrome width={box.width} height={box.height} title={title} titleItems={titleItems} menu={title ? menu : undefined} hoverHeader={!title} showMenuAlways={TOUCH}
        displayMode={panel.transparent ? 'transparent' : 'default'} loadingState={state === 'loading' ? LoadingState.Loading : LoadingState.Done} statusMessage={view?.error || undefined}>
        {(width, height) => view && (
          view.error && !view.frames.length
            ? <div role="alert" data-panel-error="query" style={{ height: '100%', overflow: 'auto' }}>{view.error}</div>
            : (
              <Guard view={view}>
                <Visualization type={panel.type} title={title} width={Math.floor(width)} height={Math.floor(height)} timeZone={timeZone} alerts={alerts} annotations={annotations} onZoom={setRange} {...view} />
              </Guard>
            )
        )}
      </PanelChrome>
      {inspecting && view && <Inspect title={title} view={view} onClose={() => setInspecting(false)} />}
    </div>
  );
}
