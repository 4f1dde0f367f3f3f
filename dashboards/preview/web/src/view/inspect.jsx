// A panel's queries as they were sent, and the figures that came back: the panel for those who cannot see it.
import { FieldType, formattedValueToString, getFieldDisplayName } from '@grafana/data';
import { Modal } from '@grafana/ui';

const MOST_ROWS = 100;

function Values({ frames }) {
  const fields = frames.flatMap((frame) => frame.fields.filter((f) => f.type === FieldType.number).map((field) => ({ field, name: getFieldDisplayName(field, frame, frames) })));
  const shown = (field, value) => (value === undefined ? '–' : formattedValueToString(field.display(value)));
  return (
    <table>
      <thead><tr><th scope="col">Name</th><th scope="col">Values</th><th scope="col">Last</th></tr></thead>
      <tbody>
        {fields.slice(0, MOST_ROWS).map(({ field, name }, i) => (
          <tr key={i}><th scope="row">{name}</th><td>{field.values.length}</td><td>{shown(field, field.values.filter((v) => v != null).at(-1))}</td></tr>
        ))}
      </tbody>
    </table>
  );
}

export function Inspect({ title, view, onClose }) {
  return (
    <Modal title={`Queries and values: ${title}`} isOpen onDismiss={onClose} ariaLabel={`Queries and values: ${title}`}>
      {view.results.map((result, i) => (
        <div key={i} className="query">
          <pre>{result.expr}</pre>
          <p>
            Query {result.refId}, {result.kind === 'instant' ? 'at the end of the time range' : `step ${result.step}`}: {result.error ?? `${result.series.length} series`}
            {result.notes.map((note) => <span key={note}>; {note}</span>)}
          </p>
        </div>
      ))}
      <div className="query"><Values frames={view.frames} /></div>
    </Modal>
  );
}
