/** Connects definitions with the custom steps and limits that they use. */
import type { InputSchemas } from '../schemas/input-schemas.js';
import { createLimits, type LimitServicesOptions } from './create-limits.js';
import {
  DefinitionCatalog,
  type DefinitionCatalogOptions,
} from './definitions/definition-catalog.js';
import { StepScripts } from './definitions/step-scripts.js';
import type { ReadingGate } from './memory/reading-gate.js';
import type { NodeServicesOptions } from './node-options.js';

export interface DefinitionServicesOptions
  extends
    NodeServicesOptions,
    Pick<LimitServicesOptions, 'limitChanged'>,
    Pick<DefinitionCatalogOptions, 'isShared' | 'mayBeStale' | 'stored' | 'triggers'> {
  readonly reading: ReadingGate;
  readonly inputSchemas: InputSchemas;
}

export type DefinitionServices = ReturnType<typeof createDefinitions>;

export function createDefinitions(options: DefinitionServicesOptions) {
  const { backplane, secretSource } = options;
  const steps = new StepScripts({
    ...options,
    hintOthers: (name) => backplane.publish({ kind: 'step', name }),
  });
  const limits = createLimits({ ...options, catalog: () => catalog });
  const catalog: DefinitionCatalog = new DefinitionCatalog({
    ...options,
    stepScripts: steps,
    limits: limits.list,
    secretNames: secretSource === undefined ? null : () => secretSource.names(),
  });
  return { steps, limits, catalog };
}
