import type { ReactNode } from 'react';
import { Button } from '../../../components/button.js';
import type { GraphDefinition, GraphStep } from '../../../graph/read-definition.js';
import {
  startOf,
  stepsWithContainers,
  type ChosenStart,
  type RepairableExecution,
  type RepairPlan,
} from './repair-plan.js';

interface StartListProps {
  readonly plan: RepairPlan;
  readonly definition: GraphDefinition;
  readonly open: readonly RepairableExecution[];
  /** The step that the user has selected on the graph. */
  readonly selected: string | null;
  readonly set: (change: Partial<RepairPlan>) => void;
}

/** More containers than this are named by their number. */
const CONTAINERS_LISTED = 100;

/** The steps to start, each with its container and item. */
export function StartList({ plan, definition, open, selected, set }: StartListProps): ReactNode {
  const steps = stepsWithContainers(definition);
  const change = (at: number, part: Partial<ChosenStart>): void =>
    set({
      start: plan.start.map((start, index) => (index === at ? { ...start, ...part } : start)),
    });
  const add = (stepId: string): void => set({ start: [...plan.start, startOf(stepId)] });
  return (
    <fieldset className="repair-part">
      <legend>Start</legend>
      {plan.start.map((start, at) => {
        const container = steps.find(({ step }) => step.id === start.stepId)?.container ?? null;
        return (
          <div key={at} className="repair-start">
            <code>
              <bdi>{start.stepId}</bdi>
            </code>
            {container !== null && (
              <Place {...{ start, container, open }} onChange={(part) => change(at, part)} />
            )}
            <Button
              isSmall
              variant="quiet"
              label={`Do not start ${start.stepId}`}
              onPress={() => set({ start: plan.start.toSpliced(at, 1) })}
            >
              Remove
            </Button>
          </div>
        );
      })}
      <div className="repair-start">
        {selected !== null && (
          <Button isSmall variant="primary" onPress={() => add(selected)}>
            Start {selected} here
          </Button>
        )}
        <label className="inline-field">
          <span>Start a step</span>
          <select
            value=""
            onChange={({ target: { value } }) => {
              if (value !== '') add(value);
            }}
          >
            <option value="">(choose a step)</option>
            {steps.map(({ step, container }, at) => (
              <option key={at} value={step.id}>
                {container === null ? step.id : `${step.id} (in ${container.id})`}
              </option>
            ))}
          </select>
        </label>
      </div>
    </fieldset>
  );
}

/** Where a step inside a container starts: in which execution of the container, and for which item. */
function Place({
  start,
  container,
  open,
  onChange,
}: {
  readonly start: ChosenStart;
  readonly container: GraphStep;
  readonly open: readonly RepairableExecution[];
  readonly onChange: (part: Partial<ChosenStart>) => void;
}): ReactNode {
  const containers = open.filter(({ stepId }) => stepId === container.id);
  const hasItems = container.type.toLowerCase() === 'foreach';
  return (
    <>
      {containers.length > 1 && (
        <label className="inline-field">
          <span>inside {container.id}</span>
          <select
            value={start.inside}
            onChange={({ target: { value } }) => onChange({ inside: value })}
          >
            <option value="">(choose)</option>
            {containers.slice(0, CONTAINERS_LISTED).map(({ executionId, index }) => (
              <option key={executionId} value={executionId}>
                {index === null ? `execution ${executionId}` : `${executionId}, item ${index}`}
              </option>
            ))}
          </select>
        </label>
      )}
      {hasItems && (
        <>
          <label className="inline-field">
            <span>index</span>
            <input
              type="number"
              min={0}
              value={start.index}
              onChange={({ target: { value } }) => onChange({ index: value })}
            />
          </label>
          <label className="inline-field repair-item">
            <span>item (JSON)</span>
            <input
              value={start.item}
              spellCheck={false}
              autoComplete="off"
              onChange={({ target: { value } }) => onChange({ item: value })}
            />
          </label>
        </>
      )}
    </>
  );
}
