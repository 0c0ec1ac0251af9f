import type { ReactNode } from 'react';
import { Button } from '../../components/button.js';
import { FilterFields } from '../../components/filter-fields.js';
import { PeriodFilter } from '../../components/period-filter.js';
import { STATE_CHOICES } from '../../components/statuses.js';
import { TextFilter } from '../../components/text-filter.js';
import { TimeFilter } from '../../components/time-filter.js';
import {
  activeCount,
  ANY_TIME,
  IS_QUEUED,
  isSameFilter,
  NO_FILTER,
  parentIn,
  PRESETS,
  WITH_CHILDREN,
  type RunFilter,
} from './run-filter.js';

/** A combination that only an address contains. */
const OTHER_STATE = 'as in the address';

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
    <FilterFields label="Filter" count={activeCount(filter)}>
      <StateFilter {...{ filter, onChange }} />
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
      {filter.failure !== '' && (
        <Button onPress={() => set({ failure: '' })}>Only one group of failures ×</Button>
      )}
      {!isSameFilter(filter, NO_FILTER) && (
        <Button variant="quiet" onPress={() => onChange(NO_FILTER)}>
          Clear
        </Button>
      )}
    </FilterFields>
  );
}

/** One choice for status and outcome, in the words of the list. */
function StateFilter({ filter, onChange }: FilterBarProps): ReactNode {
  const { failed, outcome, queued, status } = filter;
  const hasError = failed === ANY_TIME;
  const isChosen = (choice: (typeof STATE_CHOICES)[number]): boolean =>
    choice.status === status &&
    choice.outcome === outcome &&
    (choice.isQueued === true) === (queued === IS_QUEUED) &&
    (choice.hasError === true) === hasError;
  const isAny = status + outcome + queued === '' && !hasError;
  const chosen = STATE_CHOICES.find(isChosen);
  return (
    <label className="field">
      <span>Status</span>
      <select
        value={isAny ? '' : (chosen?.label ?? OTHER_STATE)}
        onChange={({ target }) => {
          const next = STATE_CHOICES.find(({ label }) => label === target.value);
          onChange({
            ...filter,
            status: next?.status ?? '',
            outcome: next?.outcome ?? '',
            queued: next?.isQueued === true ? IS_QUEUED : '',
            ...(next?.hasError === true
              ? { failed: ANY_TIME, unchanged: '' }
              : { failed: hasError ? '' : failed }),
          });
        }}
      >
        <option value="">any</option>
        {STATE_CHOICES.filter((choice) => choice.isOffered || isChosen(choice)).map(({ label }) => (
          <option key={label}>{label}</option>
        ))}
        {!isAny && chosen === undefined && <option>{OTHER_STATE}</option>}
      </select>
    </label>
  );
}

function TimeFilters({ filter, onChange }: FilterBarProps): ReactNode {
  const set = (change: Partial<RunFilter>): void => onChange({ ...filter, ...change });
  return (
    <>
      <PeriodFilter
        label="Started"
        value={filter.started}
        onChange={(started) => set({ started, from: '', to: '' })}
      />
      <TimeFilter
        label="Started after"
        value={filter.from}
        onChange={(from) => set({ from, started: '' })}
      />
      <TimeFilter
        label="Started before"
        value={filter.to}
        onChange={(to) => set({ to, started: '' })}
      />
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
  // With any time, it belongs to the status.
  const isNone = (failed === '' || failed === ANY_TIME) && unchanged === '';
  return (
    <label className="field">
      <span>Problem</span>
      <select
        value={isNone ? '' : `${failed}/${unchanged}`}
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
