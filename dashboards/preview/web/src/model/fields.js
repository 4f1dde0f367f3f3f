// Options and field config as Grafana's application completes them, transformations, overrides.
import {
  FieldConfigOptionsRegistry, FieldType, ThresholdsMode, applyFieldOverrides, booleanOverrideProcessor, cacheFieldDisplayNames,
  dataLinksOverrideProcessor, displayNameOverrideProcessor, identityOverrideProcessor, numberOverrideProcessor, standardTransformers,
  standardTransformersRegistry, stringOverrideProcessor, thresholdsOverrideProcessor, transformDataFrame, unitOverrideProcessor,
  valueMappingsOverrideProcessor,
} from '@grafana/data';
import { cloneDeep, defaultsDeep } from 'lodash';
import { lastValueFrom } from 'rxjs';
import { PANEL_TYPES } from './panel-types.js';

standardTransformersRegistry.setInit(() => {
  const byId = new Map(Object.values(standardTransformers).map((t) => [t.id, t]));
  byId.set('seriesToColumns', standardTransformers.joinByFieldTransformer);
  return [...byId].map(([id, t]) => ({ id, name: t.name, transformation: () => t }));
});

// JSON has no infinity: a first step without a value starts there.
const withBase = (thresholds) =>
  thresholds?.steps && {
    mode: ThresholdsMode.Absolute,
    ...thresholds,
    steps: thresholds.steps.map((step) => ({ ...step, value: step.value ?? -Infinity })),
  };

const GREEN_TO_RED = { mode: ThresholdsMode.Absolute, steps: [{ value: -Infinity, color: 'green' }, { value: 80, color: 'red' }] };

/** A panel's { options, fieldConfig } with the defaults of its type filled in. */
export function complete(panel) {
  const type = PANEL_TYPES[panel.type] ?? {};
  const options = defaultsDeep(cloneDeep(panel.options ?? {}), cloneDeep(type.options));
  const calcs = panel.options?.reduceOptions?.calcs;
  if (calcs?.length) {
    options.reduceOptions.calcs = calcs; // defaultsDeep merges lists item by item
  }
  if (options.legend?.displayMode === 'hidden') {
    Object.assign(options.legend, { displayMode: 'list', showLegend: false });
  }
  const defaults = cloneDeep(panel.fieldConfig?.defaults ?? {});
  defaults.custom = defaultsDeep(defaults.custom ?? {}, cloneDeep(type.custom));
  defaults.thresholds = withBase(defaults.thresholds) ?? GREEN_TO_RED;
  defaults.mappings ??= [];
  defaults.color ??= { mode: type.color ?? 'thresholds' };
  const overrides = cloneDeep(panel.fieldConfig?.overrides ?? []);
  for (const property of overrides.flatMap((override) => override.properties ?? [])) {
    if (property.id === 'thresholds') {
      property.value = withBase(property.value);
    }
  }
  return { options, fieldConfig: { defaults, overrides } };
}

const STANDARD = {
  displayName: displayNameOverrideProcessor,
  unit: unitOverrideProcessor,
  min: numberOverrideProcessor,
  max: numberOverrideProcessor,
  decimals: numberOverrideProcessor,
  fieldMinMax: booleanOverrideProcessor,
  noValue: stringOverrideProcessor,
  color: identityOverrideProcessor,
  thresholds: thresholdsOverrideProcessor,
  mappings: valueMappingsOverrideProcessor,
  links: dataLinksOverrideProcessor,
  actions: dataLinksOverrideProcessor,
  filterable: booleanOverrideProcessor,
  description: stringOverrideProcessor,
};
const ONLY_NUMBERS = new Set(['min', 'max', 'decimals', 'custom.scaleDistribution', 'custom.axisLabel']);

function registryFor({ defaults, overrides }) {
  const overridden = overrides.flatMap((o) => o.properties ?? []).map((p) => p.id).filter((id) => id.startsWith('custom.'));
  const custom = new Set([...Object.keys(defaults.custom).map((key) => `custom.${key}`), ...overridden]);
  const item = (id, path, process, isCustom) => ({
    id, path, name: id, isCustom, process,
    shouldApply: (field) => !ONLY_NUMBERS.has(id) || field.type === FieldType.number,
    settings: { expandTemplateVars: true },
  });
  return new FieldConfigOptionsRegistry(() => [
    ...Object.entries(STANDARD).map(([id, process]) => item(id, id, process, false)),
    ...[...custom].map((id) => item(id, id.slice('custom.'.length), identityOverrideProcessor, true)),
  ]);
}

/** Transformations first, then field config and overrides. */
export async function processFrames(panel, fieldConfig, frames, { replace, theme, timeZone }) {
  const transformations = (panel.transformations ?? []).filter((t) => !t.disabled && standardTransformersRegistry.getIfExists(t.id));
  const transformed = transformations.length
    ? await lastValueFrom(transformDataFrame(transformations, frames, { interpolate: (text) => replace(text) }))
    : frames;
  const data = applyFieldOverrides({
    data: transformed, fieldConfig, fieldConfigRegistry: registryFor(fieldConfig), replaceVariables: replace, theme, timeZone,
  });
  cacheFieldDisplayNames(data);
  return data;
}
