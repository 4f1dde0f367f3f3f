// Switches for a board's annotations, each with what it found in the time range.
import { dateTimeFormat } from '@grafana/data';
import { IconButton, InlineSwitch, Toggletip, useTheme2 } from '@grafana/ui';

function Events({ entry, timeZone }) {
  if (!entry.events.length) {
    return <p>None in this time range.</p>;
  }
  return (
    <ul style={{ paddingLeft: 16, maxHeight: 240, overflow: 'auto' }}>
      {entry.events.map((event, i) => (
        <li key={i}>
          {dateTimeFormat(event.from, { timeZone })}{event.to > event.from && ` to ${dateTimeFormat(event.to, { timeZone })}`} {event.title} {event.text}
        </li>
      ))}
    </ul>
  );
}

export function AnnotationControls({ annotations, timeZone, onToggle }) {
  const theme = useTheme2();
  return annotations.filter((entry) => !entry.hide).map((entry) => (
    <div key={entry.name} className="variable" data-annotation={entry.name} style={{ borderBottom: `2px solid ${theme.visualization.getColorByName(entry.color)}` }}>
      <InlineSwitch showLabel transparent={false} label={`${entry.name}${entry.on && !entry.error ? ` (${entry.events.length})` : ''}`} value={entry.on} onChange={() => onToggle(entry.name)} />
      {entry.on && !entry.error && (
        <Toggletip content={<Events entry={entry} timeZone={timeZone} />} title={entry.name}>
          <IconButton name="list-ul" aria-label={`List: ${entry.name}`} style={{ margin: '0 8px' }} />
        </Toggletip>
      )}
      {entry.error && <span className="variable-error" role="alert">{entry.error}</span>}
    </div>
  ));
}
