// Choosers for a board's variables; what is chosen is in the address as var-NAME.
import { Input, MultiSelect, Select } from '@grafana/ui';
import { setParams } from '../model/address.js';
import { ALL } from '../templating/variables.js';

const WIDTH = { min: 14, max: 40 };

/** What the list holds after a choice: All excludes the others, and nothing is All where there is one. */
export function nextSelection(variable, picked) {
  const values = picked.map((option) => option.value);
  if (!variable.includeAll) {
    return values;
  }
  const allIsNew = values.includes(ALL) && !variable.isAll;
  const others = values.filter((value) => value !== ALL);
  return allIsNew || !others.length ? [ALL] : others;
}

function Chooser({ variable, inputId }) {
  const options = [...(variable.includeAll ? [{ label: 'All', value: ALL }] : []), ...variable.options.map((o) => ({ label: o.text, value: o.value }))];
  const choose = (values) => setParams({ [`var-${variable.name}`]: values });
  const longest = Math.max(...options.map((o) => o.label.length), 4);
  const common = { inputId, options, 'aria-label': variable.label, width: Math.min(WIDTH.max, Math.max(WIDTH.min, longest + 6)), isClearable: false, noOptionsMessage: 'No values', placeholder: 'No values' };
  if (variable.multi) {
    const value = variable.isAll ? [ALL] : [variable.value].flat();
    return <MultiSelect {...common} value={value} closeMenuOnSelect={false} onChange={(picked) => choose(nextSelection(variable, picked))} width="auto" />;
  }
  return <Select {...common} value={variable.isAll ? ALL : variable.value} onChange={(option) => choose([option.value])} />;
}

export function VariableControls({ variables }) {
  return variables.filter((v) => v.hide !== 2 && v.type !== 'constant').map((variable) => {
    const inputId = `var-${variable.name}`;
    return (
      <div key={variable.name} className="variable" data-variable={variable.name} title={variable.description || undefined}>
        {variable.hide !== 1 && <label htmlFor={inputId}>{variable.label}</label>}
        <div>
          {variable.type === 'textbox'
            ? <Input id={inputId} key={variable.value} defaultValue={variable.value} aria-label={variable.label} onBlur={(event) => event.target.value !== variable.value && setParams({ [inputId]: event.target.value })} />
            : <Chooser variable={variable} inputId={inputId} />}
        </div>
        {variable.error && <span className="variable-error" role="alert">{variable.error}</span>}
        {variable.missing?.length > 0 && <span className="variable-error" role="alert">no such value: {variable.missing.join(', ')}</span>}
      </div>
    );
  });
}
