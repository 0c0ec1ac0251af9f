/** What a test sees of a run: its steps, its open pointers, and what it has asked for outside. */
import { expect } from 'vitest';
import type { ActivityOffer, Session } from '../../../src/engine/session/session.js';
import type { InstanceStatus, Instance } from '../../../src/engine/model/instance.js';
import type { Pointer } from '../../../src/engine/model/pointer.js';
import type { StepRecord } from '../../../src/engine/model/step-record.js';
import type { JsonObject } from '../../../src/engine/values/json.js';
import { Outside, type Effect } from './outside.js';

export abstract class RunView {
  /** Everything that ended, in order. */
  readonly records: StepRecord[] = [];
  readonly outside = new Outside();

  abstract get run(): Session;

  get instance(): Instance {
    return this.run.instance;
  }

  get status(): InstanceStatus {
    return this.instance.status;
  }

  get data(): JsonObject {
    return this.instance.data;
  }

  get now(): number {
    return this.run.now;
  }

  /** The steps that completed, in order. */
  get ran(): readonly string[] {
    return this.records.filter(({ status }) => status === 'Complete').map(({ stepId }) => stepId);
  }

  /** Everything that ended, as `step status`, or `step status #attempt` for later attempts. */
  get history(): readonly string[] {
    return this.records.map(
      ({ stepId, status, attempt }) => `${stepId} ${status}${attempt === 1 ? '' : ` #${attempt}`}`,
    );
  }

  /** The state of the instance: `step kind` for each open pointer, oldest first. */
  get open(): readonly string[] {
    return this.pointers.map(({ stepId, state }) => `${stepId} ${state.kind}`);
  }

  get pointers(): readonly Pointer[] {
    return [...this.instance.pointers.values()];
  }

  /** What was ever asked for, in order: subscriptions, activities, effects by execution key. */
  get asked(): ReadonlySet<string> {
    return this.outside.asked;
  }

  get subscriptions(): readonly string[] {
    return [...this.outside.subscriptions];
  }

  get activities(): readonly ActivityOffer[] {
    return [...this.outside.activities.values()];
  }

  /** The open offers that a worker may take. */
  get unheld(): readonly ActivityOffer[] {
    return this.activities.filter(({ id }) => !this.outside.withdrawn.has(id));
  }

  /** The open offers that nobody gets any more. */
  get withdrawn(): readonly ActivityOffer[] {
    return this.activities.filter(({ id }) => this.outside.withdrawn.has(id));
  }

  /** A worker takes an item. */
  hold(offer: ActivityOffer, leaseUntil = Number.MAX_SAFE_INTEGER): void {
    this.outside.hold(offer.id, leaseUntil);
  }

  /** A heartbeat. */
  extend(offer: ActivityOffer, leaseUntil: number): void {
    this.outside.extend(offer.id, leaseUntil);
  }

  get effects(): readonly Effect[] {
    return this.outside.effects;
  }

  /** The only open offer with that name. */
  activity(name: string): ActivityOffer {
    const offers = this.activities.filter((offer) => offer.name === name);
    expect(offers, `open activities named ${name}`).toHaveLength(1);
    return offers[0]!;
  }

  /** The only running effect of that step. */
  effect(stepId: string): Effect {
    const effects = this.effects.filter((effect) => effect.stepId === stepId);
    expect(effects, `effects of ${stepId} under way`).toHaveLength(1);
    return effects[0]!;
  }

  /** The only open pointer at that step. */
  pointer(stepId: string): Pointer {
    const pointers = this.pointers.filter((pointer) => pointer.stepId === stepId);
    expect(pointers, `open pointers at ${stepId}`).toHaveLength(1);
    return pointers[0]!;
  }
}
