/** Connects the parts of triggers. */
import type { NodeServicesOptions } from './node-options.js';
import { PublisherPermissions } from './triggers/publisher-permissions.js';
import type { DefinitionCatalog } from './definitions/definition-catalog.js';
import type { InstanceControl } from './operations/instance-control.js';
import type { InstanceStarter } from './operations/instance-starter.js';
import { EventTriggers } from './triggers/event-triggers.js';
import { TriggerControl } from './triggers/trigger-control.js';
import { TriggerRegistry } from './trigger-records/trigger-registry.js';
import { TriggerScan, type TriggerScanOptions } from './triggers/trigger-scan.js';
import { TriggerStarter } from './triggers/trigger-starter.js';

export interface TriggerServices {
  readonly registry: TriggerRegistry;
  readonly scan: TriggerScan;
  readonly events: EventTriggers;
  readonly control: TriggerControl;
}

/** Maximum sleep of the node that checks due triggers, if other nodes can change them: without and with hints of changes. */
const SLEEP_MS_WITHOUT_HINTS = 1000;
const SLEEP_MS_WITH_HINTS = 10_000;

interface Services {
  readonly catalog: DefinitionCatalog;
  readonly control: InstanceControl;
  readonly starts: InstanceStarter;
  readonly nodes: { readonly isChosen: boolean };
  readonly isShared: boolean;
}

export function createTriggers(
  options: Pick<
    NodeServicesOptions,
    'store' | 'clock' | 'ids' | 'logger' | 'metrics' | 'scripts' | 'settings' | 'backplane'
  >,
  services: Services,
  mayBeStale: () => boolean,
): TriggerServices {
  const { catalog, control: instances, nodes, starts } = services;
  const findDefinition: TriggerScanOptions['findDefinition'] = (id, version) =>
    catalog.find(id, version);
  const starter = new TriggerStarter({ ...options, starts });
  const changed = (): void => scan.soon();
  const registry = new TriggerRegistry({ ...options, findDefinition, changed });
  const scan = new TriggerScan({
    ...options,
    findDefinition,
    registry,
    starter,
    control: instances,
    isChosen: () => nodes.isChosen,
    sleepMsMax: () => {
      if (!services.isShared) return null;
      return mayBeStale() ? SLEEP_MS_WITHOUT_HINTS : SLEEP_MS_WITH_HINTS;
    },
  });
  const permissions = new PublisherPermissions(options);
  const events = new EventTriggers({ ...options, findDefinition, permissions, starter });
  const control = new TriggerControl({
    ...options,
    catalog,
    starter,
    changed: (definitionId) => {
      scan.soon();
      options.backplane.publish({ kind: 'definition', id: definitionId });
    },
  });
  return { registry, scan, events, control };
}
