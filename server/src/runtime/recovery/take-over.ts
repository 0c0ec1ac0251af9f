/**
 * Takes over what nobody runs any more, one claim for each instance that there is something to do for.
 *
 * What only waits is left as it is, whoever owned it: a message or the scan brings it up when it is due. So the death of
 * a node costs what was under work, however much waits:
 *  - instances with something under way, which the store marks;
 *  - instances that changed late: whether all that follows their last commit was done is not known. Each heartbeat
 *    tells until when it was (`followedUntil`);
 *  - instances that are due, which the scan finds.
 *
 *  R10 A claim is made when the work is about to begin, and leaves the instance due or marked as under way. So it is found
 *     again, and what an heir that died had claimed but not committed is what it was working on.
 */
import { STATE_VERSION } from '../../engine/model/snapshot.js';
import type { InstanceClaim, InstanceRecord } from '../../store/records/instances.js';
import type { Store } from '../../store/store.js';
import type { RunnerEnvironment } from '../instances/runner-environment.js';
import { ALONE_MIN, CrashTrials, TRIAL_FROM, type CrashTrialsOptions } from './crash-trials.js';
import { readFollowedUntil } from '../fleet/node-details.js';
import type { NodeRegistry } from '../fleet/node-registry.js';
import type { Quarantine } from './quarantine.js';

const PAGE = 500;

export interface TakeOverOptions {
  readonly environment: CrashTrialsOptions['environment'] & Pick<RunnerEnvironment, 'store'>;
  readonly nodes: Pick<NodeRegistry, 'id' | 'isGone' | 'recordOf' | 'livedUntil'>;
  readonly quarantine: Quarantine;
  /** An instance is suspended after so many deaths in a row, the last ones of them on trial. */
  readonly crashesMax: number;
  readonly isStopping: () => boolean;
  /** This node has it in memory. */
  readonly isHere: (instanceId: string) => boolean;
  /** Does something that brings the instance into memory; resolves when the next one may come. */
  readonly bring: (instanceId: string, load: () => Promise<InstanceRecord | null>) => Promise<void>;
  readonly activate: (record: InstanceRecord) => Promise<void>;
  /** Reads the instance, and claims it where it is nobody's; answers it if it is ours. */
  readonly load: (instanceId: string) => Promise<InstanceRecord | null>;
  readonly isNewer: (instance: Pick<InstanceRecord, 'id' | 'schemaVersion'>) => boolean;
  readonly waitsOutside: CrashTrialsOptions['waitsOutside'];
  readonly acquitted: CrashTrialsOptions['acquitted'];
  readonly leftUnknown: CrashTrialsOptions['leftUnknown'];
}

export class TakeOver {
  readonly trials: CrashTrials;
  readonly #options: TakeOverOptions;
  readonly #store: Store;
  /** Dead nodes that were seen to. */
  readonly #seen = new Set<string>();

  constructor(options: TakeOverOptions) {
    this.#options = options;
    this.#store = options.environment.store;
    this.trials = new CrashTrials({
      ...options,
      nodeId: options.nodes.id,
      begin: (id, suspectEpoch) => this.#beginTrial(id, suspectEpoch),
    });
  }

  /** What a dead node had in hand. It may be asked for again: something may have come late. */
  async ofNode(nodeId: string): Promise<void> {
    const isFirst = !this.#seen.has(nodeId);
    this.#seen.add(nodeId);
    if (isFirst) this.trials.unquiet();
    const followedUntil = readFollowedUntil(this.#options.nodes.recordOf(nodeId)?.details ?? null);
    await this.#underWayOf(nodeId);
    // A node of an earlier version tells nothing: all that it did not plainly wait for is looked at, once.
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
   * Claims an instance of a node that is gone, and sets it to work; or lets it wait for its trial. Resolves when the next
   * one may come.
   */
  async claim(instance: InstanceClaim, { due = false } = {}): Promise<void> {
    const { bring, isHere, isNewer, isStopping, load } = this.#options;
    if (isStopping() || isHere(instance.id) || isNewer(instance)) return;
    const suspected = this.#isSuspected(instance);
    if (this.#needsTrial(instance, suspected)) {
      this.trials.add(instance.id, suspected ? instance.epoch : null);
      return;
    }
    let isFirst = true;
    await bring(instance.id, async () => {
      // A claim without an answer may be in the store all the same (rule S5): then it has to be read.
      if (!isFirst) return load(instance.id);
      isFirst = false;
      return this.#claimNow(instance, { suspected, due });
    });
  }

  /** As `claim`, for one that is being loaded: answers it once it is ours. */
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
    if (isStopping() || isHere(id)) return null;
    const owner = nodes.id;
    return this.#store.claimInstance({ id, epoch, owner, schemaVersionMax: STATE_VERSION, ...how });
  }

  #needsTrial({ crashes }: InstanceClaim, suspected: boolean): boolean {
    return crashes + (suspected ? 1 : 0) >= TRIAL_FROM;
  }

  /**
   * Whether its node may have been at work on it when it died. What waits for time, an event or a worker never is. One that
   * the node had claimed and not committed was at work whatever else is known, as claims are made for work (R10).
   */
  #isSuspected({ crashes, owner, underWay, wakeAt }: InstanceClaim): boolean {
    const livedUntil = owner === null ? null : this.#options.nodes.livedUntil(owner);
    if (livedUntil === null) return false;
    return underWay || crashes > 0 || (wakeAt !== null && wakeAt <= livedUntil);
  }

  async #beginTrial(id: string, suspectEpoch: number | null): Promise<InstanceRecord | null> {
    const { activate, environment, isHere, isNewer, nodes } = this.#options;
    const record = await this.#store.getInstance(id);
    if (record === null || isHere(id) || isNewer(record)) return null;
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
    // One that cannot be run was set aside, or has given up already.
    return isHere(id) ? onTrial : null;
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
