import { useState, type ReactNode } from 'react';
import { Button } from '../../components/button.js';
import { RUN_OUTCOMES, RUN_STATUSES } from '../../components/statuses.js';
import {
  isSameFilter,
  NO_FILTER,
  parentIn,
  PRESETS,
  WITH_CHILDREN,
  type RunFilter,
} from './run-filter.js';

interface FilterBarProps {
  readonly filter: RunFilter;
  readonly onChange: (filter: RunFilter) => void;
}

export function PresetBar({ filter, onChange }: FilterBarProps): ReactNode {
  return (
    <div className="presets" role="group" aria-label="Views">
      {PRESETS.map(({ label, hint, filter: preset }) => (
        <button
          key={label}
          type="button"
          title={hint}
          aria-pressed={isSameFilter(filter, preset)}
          onClick={() => onChange(preset)}
        >
          {label}
        </button>
      ))}
    </div>
  );
}

/** Applies each change immediately; a text field when it loses the focus or the user presses Enter. */
export function FilterBar({ filter, onChange }: FilterBarProps): ReactNode {
  const set = (change: Partial<RunFilter>): void => onChange({ ...filter, ...change });
  return (
    <div className="filter-bar" role="group" aria-label="Filter">
      <ChoiceFilter
        label="Status"
        value={filter.status}
        choices={RUN_STATUSES}
        onChange={(status) => set({ status })}
      />
      <ChoiceFilter
        label="Outcome"
        value={filter.outcome}
        choices={RUN_OUTCOMES}
        onChange={(outcome) => set({ outcome })}
      />
      <label className="field">
        <span>Child runs</span>
        <select value={filter.parent} onChange={({ target }) => set({ parent: target.value })}>
          <option value="">hidden</option>
          <option value={WITH_CHILDREN}>shown</option>
          {parentIn(filter) !== null && <option value={filter.parent}>of one run</option>}
        </select>
      </label>
      <TextFilter
        label="Definition"
        value={filter.definitionId}
        onChange={(definitionId) => set({ definitionId })}
      />
      <TextFilter
        label="Version"
        value={filter.version}
        pattern="[1-9][0-9]{0,8}"
        isShort
        onChange={(version) => set({ version })}
      />
      <TextFilter
        label="Reference"
        value={filter.reference}
        onChange={(reference) => set({ reference })}
      />
      <TimeFilters {...{ filter, onChange }} />
      <TroubleFilter {...{ filter, onChange }} />
      {!isSameFilter(filter, NO_FILTER) && (
        <Button variant="quiet" onPress={() => onChange(NO_FILTER)}>
          Clear
        </Button>
      )}
    </div>
  );
}

function TimeFilters({ filter, onChange }: FilterBarProps): ReactNode {
  const set = (change: Partial<RunFilter>): void => onChange({ ...filter, ...change });
  return (
    <>
      <TimeFilter label="Started after" value={filter.from} onChange={(from) => set({ from })} />
      <TimeFilter label="Started before" value={filter.to} onChange={(to) => set({ to })} />
      <TimeFilter
        label="Ended after"
        value={filter.endedFrom}
        onChange={(endedFrom) => set({ endedFrom })}
      />
      <TimeFilter
        label="Ended before"
        value={filter.endedTo}
        onChange={(endedTo) => set({ endedTo })}
      />
    </>
  );
}

function TroubleFilter({ filter, onChange }: FilterBarProps): ReactNode {
  const { failed, unchanged } = filter;
  return (
    <label className="field long">
      <span>Problem</span>
      <select
        value={failed === '' && unchanged === '' ? '' : `${failed}/${unchanged}`}
        onChange={({ target }) => {
          const [nextFailed = '', nextUnchanged = ''] = target.value.split('/');
          onChange({ ...filter, failed: nextFailed, unchanged: nextUnchanged });
        }}
      >
        <option value="">any</option>
        <option value="1h/">error in the last hour</option>
        <option value="1d/">error in the last day</option>
        <option value="7d/">error in the last 7 days</option>
        <option value="/10m">unchanged for 10 min</option>
        <option value="/1h">unchanged for 1 h</option>
        <option value="/1d">unchanged for 1 day</option>
      </select>
    </label>
  );
}

interface ValueFilterProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function ChoiceFilter({
  label,
  value,
  choices,
  onChange,
}: ValueFilterProps & { readonly choices: readonly string[] }): ReactNode {
  return (
    <label className="field">
      <span>{label}</span>
      <select value={value} onChange={({ target }) => onChange(target.value)}>
        <option value="">any</option>
        {choices.map((choice) => (
          <option key={choice}>{choice}</option>
        ))}
      </select>
    </label>
  );
}

interface TextFilterProps extends ValueFilterProps {
  readonly pattern?: string;
  /** For values of a few characters. */
  readonly isShort?: boolean;
}

function TextFilter(props: TextFilterProps): ReactNode {
  const { label, value, pattern, isShort = false, onChange } = props;
  const [text, setText] = useState(value);
  const [appliedValue, setAppliedValue] = useState(value);
  // The filter was changed elsewhere, for example by a preset.
  if (appliedValue !== value) {
    setAppliedValue(value);
    setText(value);
  }
  const isValid = pattern === undefined || text === '' || new RegExp(`^${pattern}$`).test(text);
  const apply = (): void => {
    if (isValid && text !== value) onChange(text);
  };
  return (
    <label className={isShort ? 'field short' : 'field'}>
      <span>{label}</span>
      <input
        value={text}
        maxLength={500}
        spellCheck={false}
        aria-invalid={!isValid}
        onChange={({ target }) => setText(target.value)}
        onBlur={apply}
        onKeyDown={({ key }) => {
          if (key === 'Enter') apply();
        }}
      />
    </label>
  );
}

function TimeFilter({ label, value, onChange }: ValueFilterProps): ReactNode {
  return (
    <label className="field">
      <span>{label}</span>
      <input
        type="datetime-local"
        value={value}
        onChange={({ target }) => onChange(target.value)}
      />
    </label>
  );
}
