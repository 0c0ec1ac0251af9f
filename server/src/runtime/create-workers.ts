/** Connects the parts that hand work to workers, and those that grant slots of limits. */
import { ActivityBroker } from './activities/activity-broker.js';
import { WorkClaims, type WorkClaimsOptions } from './activities/work-claims.js';
import { leaseBinding } from './fleet/node-details.js';
import { SlotGrants, type SlotGrantsOptions } from './limits/slot-grants.js';
import type { NodeServicesOptions } from './node-options.js';

/** Scan interval while the store is the only way to learn of changes on other nodes. */
const SCAN_MS_WITHOUT_HINTS = 1000;
const SCAN_MS_WITH_HINTS = 10_000;

export interface WorkerServicesOptions
  extends NodeServicesOptions, Pick<WorkClaimsOptions, 'secrets' | 'claimer'> {
  readonly others: Parameters<typeof leaseBinding>[0];
  readonly resultPosted: WorkClaimsOptions['posted'];
  readonly posted: SlotGrantsOptions['posted'];
  readonly mayBeStale: () => boolean;
}

export interface WorkerServices {
  readonly claims: WorkClaims;
  readonly broker: ActivityBroker;
  readonly slots: SlotGrants;
}

export function createWorkers(options: WorkerServicesOptions): WorkerServices {
  const { backplane, mayBeStale, others, posted, resultPosted, settings } = options;
  const offer = (name: string): void => broker.announce(name);
  const slots = new SlotGrants({ ...options, posted, offer });
  const claims = new WorkClaims({
    ...options,
    leaseMsMax: settings.workLeaseMsMax,
    bindsLeases: leaseBinding(others),
    posted: resultPosted,
    lookAtLimits: (keys) => slots.look(keys),
    claimRefused: (keys) => slots.claimRefused(keys),
    offer,
  });
  const broker = new ActivityBroker({
    ...options,
    claims,
    waitersMax: settings.waitersMax,
    scanIntervalMs: () => (mayBeStale() ? SCAN_MS_WITHOUT_HINTS : SCAN_MS_WITH_HINTS),
    hintOthers: (name) => backplane.publish({ kind: 'activity', name }),
  });
  return { claims, broker, slots };
}
