/**
 * Takes over instances of dead nodes, with one claim for each instance that has work to do.
 *
 * Instances that only wait keep their owner: a message or the scan brings them up when they are due. So a node's death costs
 * only as much as its active instances, however many are waiting:
 *  - instances with work in progress, which the store marks;
 *  - instances that changed shortly before the death: it is unknown whether the follow-up work of their last commit is
 *    complete. Each heartbeat contains the time up to which it is (`followedUntil`);
 *  - instances that are due, which the scan finds.
 *
 *  R10 A claim is made when the work is about to start, and leaves the instance due or marked as in progress. So the instance
 *      is found again, and if the new owner also dies, the instances that it had claimed but not committed are the ones that it
 *      was working on.
 */
import { STATE_VERSION } from '../../engine/model/snapshot.js';
import type { InstanceClaim, InstanceRecord } from '../../store/records/instances.js';
import type { Store } from '../../store/store.js';
import type { RunnerEnvironment } from './runner-environment.js';
import { ALONE_MIN, CrashTrials, TRIAL_FROM, type CrashTrialsOptions } from './crash-trials.js';
import { readFollowedUntil } from '../fleet/node-details.js';
import type { NodeRegistry } from '../fleet/node-registry.js';
import { claimOnce } from './instance-loads.js';
import type { Quarantine } from './quarantine.js';

const PAGE = 500;

export interface TakeOverOptions {
  readonly environment: CrashTrialsOptions['environment'] & Pick<RunnerEnvironment, 'store'>;
  readonly nodes: Pick<NodeRegistry, 'id' | 'isGone' | 'recordOf' | 'livedUntil'>;
  readonly quarantine: Quarantine;
  /** An instance is suspended after this many consecutive node deaths, the last of them in trials. */
  readonly crashesMax: number;
  readonly isStopping: () => boolean;
  /** True if this node has the instance in memory, as of this epoch or later. */
  readonly isHere: (instanceId: string, epoch: number) => boolean;
  /** Runs a load that brings the instance into memory; resolves when the next one may start. */
  readonly bring: (instanceId: string, load: () => Promise<InstanceRecord | null>) => Promise<void>;
  readonly activate: (record: InstanceRecord) => Promise<void>;
  /** Reads the instance, and claims it if it has no owner; returns it if this node owns it. */
  readonly load: (instanceId: string) => Promise<InstanceRecord | null>;
  readonly isNewer: (instance: Pick<InstanceRecord, 'id' | 'schemaVersion'>) => boolean;
  readonly waitsForResponse: CrashTrialsOptions['waitsForResponse'];
  readonly cleared: CrashTrialsOptions['cleared'];
  readonly maybeUnfinished: CrashTrialsOptions['maybeUnfinished'];
}

export class TakeOver {
  readonly trials: CrashTrials;
  readonly #options: TakeOverOptions;
  readonly #store: Store;
  /** Dead nodes that have been handled. */
  readonly #seen = new Set<string>();
  readonly #claimed = new WeakSet<InstanceRecord>();

  constructor(options: TakeOverOptions) {
    this.#options = options;
    this.#store = options.environment.store;
    this.trials = new CrashTrials({
      ...options,
      nodeId: options.nodes.id,
      begin: (id, suspectEpoch) => this.#beginTrial(id, suspectEpoch),
    });
  }

  /** Takes over the active instances of a dead node. May be repeated: a write may have arrived late. */
  async ofNode(nodeId: string): Promise<void> {
    const isFirst = !this.#seen.has(nodeId);
    this.#seen.add(nodeId);
    if (isFirst) this.trials.unquiet();
    const followedUntil = readFollowedUntil(this.#options.nodes.recordOf(nodeId)?.details ?? null);
    await this.#underWayOf(nodeId);
    // A node of an earlier version does not report `followedUntil`: all its instances that were not clearly waiting are
    // checked, once.
    if (followedUntil !== null || isFirst) await this.#changedOf(nodeId, followedUntil);
  }

  async #underWayOf(nodeId: string): Promise<void> {
    for (let afterId: string | null = null; !this.#options.isStopping();) {
      const page: readonly InstanceClaim[] = await this.#store.findInstancesUnderWay(
        nodeId,
        afterId,
        PAGE,
      );
      for (const instance of page) await this.claim(instance);
      if (page.length < PAGE) return;
      afterId = page.at(-1)?.id ?? null;
    }
  }

  async #changedOf(nodeId: string, followedUntil: number | null): Promise<void> {
    let after = { time: followedUntil ?? 0, id: '' };
    while (!this.#options.isStopping()) {
      const page = await this.#store.findChangedInstances(nodeId, after, PAGE);
      for (const instance of page) {
        const onlyWaits = followedUntil === null && instance.wakeAt === null;
        if (!onlyWaits) await this.claim(instance, { due: !instance.underWay });
      }
      const last = page.at(-1);
      if (last === undefined || page.length < PAGE) return;
      after = { time: last.lastChangeAt, id: last.id };
    }
  }

  /**
   * Claims an instance of a dead node and sets it to work, or queues it for a trial. Resolves when the next one may start.
   */
  async claim(instance: InstanceClaim, { due = false } = {}): Promise<void> {
    const { bring, isHere, isNewer, isStopping, load } = this.#options;
    if (isStopping() || isHere(instance.id, instance.epoch) || isNewer(instance)) return;
    const suspected = this.#isSuspected(instance);
    if (this.#needsTrial(instance, suspected)) {
      this.trials.add(instance.id, suspected ? instance.epoch : null);
      return;
    }
    const claim = (): Promise<InstanceRecord | null> =>
      this.#claimNow(instance, { suspected, due });
    await bring(
      instance.id,
      claimOnce(claim, () => load(instance.id)),
    );
  }

  /** True if the record is the result of a claim by this node. */
  hasClaimed(record: InstanceRecord): boolean {
    return this.#claimed.has(record);
  }

  /** Like `claim`, for an instance that is being loaded: returns it once this node owns it. */
  async claimNow(instance: InstanceClaim): Promise<InstanceRecord | null> {
    const suspected = this.#isSuspected(instance);
    if (!this.#needsTrial(instance, suspected)) {
      return this.#claimNow(instance, { suspected, due: false });
    }
    this.trials.add(instance.id, suspected ? instance.epoch : null);
    return null;
  }

  async #claimNow(
    { epoch, id }: Pick<InstanceClaim, 'epoch' | 'id'>,
    how: { readonly suspected: boolean; readonly due: boolean },
  ): Promise<InstanceRecord | null> {
    const { isHere, isStopping, nodes } = this.#options;
    if (isStopping() || isHere(id, epoch)) return null;
    const owner = nodes.id;
    const record = await this.#store.claimInstance({
      id,
      epoch,
      owner,
      schemaVersionMax: STATE_VERSION,
      ...how,
    });
    if (record !== null) this.#claimed.add(record);
    return record;
  }

  #needsTrial({ crashes }: InstanceClaim, suspected: boolean): boolean {
    return crashes + (suspected ? 1 : 0) >= TRIAL_FROM;
  }

  /**
   * True if its node may have been working on the instance when it died. An instance that waits for a time, an event or a
   * worker is never suspected. An instance that the node had claimed but not committed was always at work, because claims are
   * made for work (R10).
   */
  #isSuspected({ crashes, owner, underWay, wakeAt }: InstanceClaim): boolean {
    const livedUntil = owner === null ? null : this.#options.nodes.livedUntil(owner);
    if (livedUntil === null) return false;
    return underWay || crashes > 0 || (wakeAt !== null && wakeAt <= livedUntil);
  }

  async #beginTrial(id: string, suspectEpoch: number | null): Promise<InstanceRecord | null> {
    const { activate, environment, isHere, isNewer, nodes } = this.#options;
    const record = await this.#store.getInstance(id);
    if (record === null || isHere(id, record.epoch) || isNewer(record)) return null;
    const { owner } = record;
    let onTrial: InstanceRecord | null = record;
    if (owner !== nodes.id) {
      if (owner !== null && !(await nodes.isGone(owner))) return null;
      const suspected = record.epoch === suspectEpoch || this.#isSuspected(record);
      onTrial = await this.#claimNow(record, { suspected, due: false });
    }
    if (onTrial === null || (await this.#isGuilty(onTrial, owner))) return null;
    const { crashes } = onTrial;
    environment.logger.warn(
      { workflowId: id, crashes },
      'running an instance alone, because servers crashed repeatedly while it was due or running',
    );
    await activate(onTrial);
    // An instance that can't run was quarantined, or has already stopped.
    return isHere(id, onTrial.epoch) ? onTrial : null;
  }

  async #isGuilty(record: InstanceRecord, lastNode: string | null): Promise<boolean> {
    const { crashesMax, nodes, quarantine } = this.#options;
    const { crashes } = record;
    if (crashes < Math.max(crashesMax, TRIAL_FROM + ALONE_MIN)) return false;
    const alone = crashes - TRIAL_FROM;
    const dead = lastNode === null ? undefined : nodes.recordOf(lastNode);
    const host = dead === undefined ? '' : ` on ${dead.hostname}, process ${dead.pid}`;
    await quarantine.suspend(record, {
      type: 'Poison',
      message:
        `${crashes} servers in a row crashed while they were running this workflow; the last ${alone} of them were running ` +
        `nothing else (most recently ${lastNode ?? 'unknown'}${host}); resume the run to try again`,
      evidence: { crashes, alone, lastNode },
    });
    return true;
  }
}
