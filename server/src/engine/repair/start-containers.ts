/**
 * The container in which a modification opens a step.
 *
 * With `inside`: any open execution of a container that the step can run in. Without it: the step's own container, or, if that
 * isn't open, another container from which a path leads to the step.
 */
import { placeOfStep, placesOfStep } from '../definitions/step-places.js';
import type { Session } from '../session/session.js';
import type { StepPlace, WorkflowDefinition } from '../model/definition.js';
import type { Pointer } from '../model/pointer.js';
import { quoteText } from '../values/convert-input.js';
import type { Modification, Obstacle, StepStart } from '../model/modification.js';
import { targetStepId } from './move-version.js';

/** Maximum number of executions that an obstacle names. */
const EXECUTIONS_NAMED_MAX = 100;
/** Maximum number of executions that its message names. */
const EXECUTIONS_WRITTEN_MAX = 20;

/** A place in which a step can run, with its open executions. */
interface OpenPlace {
  readonly place: StepPlace;
  readonly containers: readonly Pointer[];
}

/** Null: the top level. */
export type StartContainer =
  { readonly container: Pointer | null } | { readonly obstacle: Obstacle };

export class StartContainers {
  readonly #session: Session;
  readonly #target: WorkflowDefinition;
  readonly #stepMap: Modification['stepMap'];
  /** Pointers that stay open, by the id of their step in the target. */
  readonly #staying = new Map<string, Pointer[]>();
  readonly #compensating: readonly Pointer[];
  /** Keyed by the step to open: a modification may start it many times. */
  readonly #places = new Map<string, readonly OpenPlace[]>();

  constructor(
    session: Session,
    staying: readonly Pointer[],
    target: WorkflowDefinition,
    stepMap: Modification['stepMap'],
  ) {
    this.#session = session;
    this.#target = target;
    this.#stepMap = stepMap;
    this.#compensating = staying.filter(({ state }) => state.kind === 'compensating');
    for (const pointer of staying) {
      const id =
        target === session.definition ? pointer.stepId : targetStepId(stepMap, pointer.stepId);
      const others = this.#staying.get(id);
      if (others === undefined) this.#staying.set(id, [pointer]);
      else others.push(pointer);
    }
  }

  find(wanted: StepStart, at: string): StartContainer {
    const { inside, stepId } = wanted;
    const places = this.#placesOf(stepId);
    if (inside !== null) {
      const candidates = [...new Set(places.flatMap(({ containers }) => containers))];
      const container = candidates.find(({ id }) => id === inside);
      if (container !== undefined) return { container };
      return { obstacle: this.#wrongContainer(wanted, at, candidates) };
    }
    for (const { containers, place } of places) {
      if (containers.length > 1) return { obstacle: ambiguous(stepId, at, containers) };
      const [container] = containers;
      if (container !== undefined) return { container };
      if (place.container === null) return { container: null };
    }
    return { obstacle: this.#notOpen(stepId, at) };
  }

  #placesOf(stepId: string): readonly OpenPlace[] {
    const known = this.#places.get(stepId);
    if (known !== undefined) return known;
    const places = placesOfStep(this.#target, stepId).map((place) => ({
      place,
      containers: this.#openIn(place),
    }));
    this.#places.set(stepId, places);
    return places;
  }

  #openIn({ compensates, container }: StepPlace): readonly Pointer[] {
    const compensating = compensates === null ? [] : this.#compensatingFor(compensates);
    if (compensating.length > 0 || container === null) return compensating;
    return (this.#staying.get(container) ?? []).filter(
      ({ isEnding, state }) => state.kind === 'open' && isEnding !== true,
    );
  }

  #compensatingFor(compensates: string): readonly Pointer[] {
    return this.#compensating.filter(
      ({ state }) =>
        state.kind === 'compensating' &&
        state.plan.some(({ stepId }) => targetStepId(this.#stepMap, stepId) === compensates),
    );
  }

  #notOpen(stepId: string, at: string): Obstacle {
    const { container } = placeOfStep(this.#target, stepId);
    const name = quoteText(container ?? '');
    const message =
      container !== null && this.#staying.has(container)
        ? `The step ${quoteText(stepId)} is inside ${name}, which is not running its steps now`
        : `The step ${quoteText(stepId)} is inside ${name}, which is not open: start ${name} instead`;
    return { code: 'container_not_open', message, pointer: `${at}/stepId`, executionIds: [] };
  }

  #wrongContainer(
    { inside, stepId }: StepStart,
    at: string,
    candidates: readonly Pointer[],
  ): Obstacle {
    const { instance } = this.#session;
    const pointer = `${at}/inside`;
    const executionIds = namedOf(candidates);
    if (inside === null || inside < 1 || inside >= instance.nextPointerId) {
      const message = `The run has no execution ${inside}`;
      return { code: 'unknown_execution', message, pointer, executionIds };
    }
    if (!instance.pointers.has(inside)) {
      const message = `The execution ${inside} has already ended`;
      return { code: 'execution_ended', message, pointer, executionIds };
    }
    const message = `The step ${quoteText(stepId)} cannot be opened inside the execution ${inside}`;
    return { code: 'wrong_container', message, pointer, executionIds };
  }
}

function ambiguous(stepId: string, at: string, containers: readonly Pointer[]): Obstacle {
  const executionIds = namedOf(containers);
  const written = executionIds.slice(0, EXECUTIONS_WRITTEN_MAX).join(', ');
  const message = `The step ${quoteText(stepId)} can be opened in several executions: choose one of ${written} in "inside"`;
  return { code: 'ambiguous_container', message, pointer: `${at}/inside`, executionIds };
}

function namedOf(containers: readonly Pointer[]): readonly number[] {
  return containers.slice(0, EXECUTIONS_NAMED_MAX).map(({ id }) => id);
}
