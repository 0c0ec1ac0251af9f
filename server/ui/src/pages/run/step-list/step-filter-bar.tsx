import type { ReactNode } from 'react';
import { Button } from '../../../components/button.js';
import { FilterFields } from '../../../components/filter-fields.js';
import { STEP_STATE_CHOICES } from '../../../components/statuses.js';
import { TextFilter } from '../../../components/text-filter.js';
import { allSteps } from '../../../graph/find-step.js';
import type { GraphDefinition } from '../../../graph/read-definition.js';
import { StepSelect } from './step-select.js';
import {
  activeCount,
  atTurn,
  toStepFilter,
  withoutFilter,
  type StepChoices,
} from './step-filter.js';

/** The limit of the API. */
const SEARCH_LENGTH_MAX = 200;

interface StepFilterBarProps {
  readonly choices: StepChoices;
  /** Null while it is being loaded. */
  readonly definition: GraphDefinition | null;
  /** Whether the run has so many executions that the newest come first. */
  readonly isLong: boolean;
  readonly onChange: (choices: StepChoices) => void;
}

/** Applies each change immediately; a text field when it loses the focus or the user presses Enter. */
export function StepFilterBar(props: StepFilterBarProps): ReactNode {
  const { choices, definition, isLong, onChange } = props;
  const set = (change: Partial<StepChoices>): void => onChange({ ...choices, ...change });
  const count = activeCount(choices);
  return (
    <FilterFields label="Filter steps" count={count}>
      <StatusChoice status={choices.status} onChange={(status) => set({ status })} />
      <StepSelect
        step={choices.step}
        steps={definition === null ? [] : allSteps(definition)}
        onChange={(step) => set({ step, ...(step === '' && { turn: '' }) })}
      />
      <TextFilter
        label="Item"
        value={choices.item}
        pattern="[0-9]{1,15}"
        hint="The number of the item in its Foreach, from 0"
        isShort
        onChange={(item) => set({ item })}
      />
      <TurnChoice
        turn={choices.turn}
        onChange={(turn) => onChange(atTurn(choices, turn, definition))}
      />
      <TextFilter
        label="Text"
        value={choices.search}
        hint="In inputs, outputs, item or error, in any casing"
        lengthMax={SEARCH_LENGTH_MAX}
        onChange={(search) => set({ search })}
      />
      <label className="field">
        <span>Order</span>
        <select
          value={toStepFilter(choices, isLong).order}
          disabled={choices.turn !== ''}
          onChange={({ target }) => set({ order: target.value })}
        >
          <option value="asc">oldest first</option>
          <option value="desc">newest first</option>
        </select>
      </label>
      {count > 0 && (
        <Button variant="quiet" onPress={() => onChange(withoutFilter(choices))}>
          Clear
        </Button>
      )}
    </FilterFields>
  );
}

function StatusChoice({
  status,
  onChange,
}: {
  readonly status: string;
  readonly onChange: (status: string) => void;
}): ReactNode {
  const isKnown = status === '' || STEP_STATE_CHOICES.some(([value]) => value === status);
  return (
    <label className="field">
      <span>Status</span>
      <select value={status} onChange={({ target }) => onChange(target.value)}>
        <option value="">any</option>
        {STEP_STATE_CHOICES.map(([value, word]) => (
          <option key={value} value={value}>
            {word}
          </option>
        ))}
        {!isKnown && <option>{status}</option>}
      </select>
    </label>
  );
}

/** Jumps to an iteration, and from there to its neighbors. */
function TurnChoice({
  turn,
  onChange,
}: {
  readonly turn: string;
  readonly onChange: (turn: string) => void;
}): ReactNode {
  const number = Number(turn);
  const go = (change: number): void => onChange(String(number + change));
  return (
    <span className="turn-choice">
      <TextFilter
        label="Turn"
        value={turn}
        pattern="[1-9][0-9]{0,14}"
        hint="The number of the turn of a While or Recur, from 1"
        isShort
        onChange={onChange}
      />
      {number > 0 && (
        <>
          <Button label="Previous turn" isDisabled={number === 1} onPress={() => go(-1)}>
            ‹
          </Button>
          <Button label="Next turn" onPress={() => go(1)}>
            ›
          </Button>
        </>
      )}
    </span>
  );
}
