import type { ReactNode } from 'react';
import { Button } from '../../components/button.js';
import { FilterFields } from '../../components/filter-fields.js';
import { PeriodFilter } from '../../components/period-filter.js';
import { TextFilter } from '../../components/text-filter.js';
import { TimeFilter } from '../../components/time-filter.js';
import { NO_CHANGE_FILTER, setMembers, type ChangeFilter } from './audit-filter.js';
import { TARGET_KINDS } from './audit-words.js';

/** Applies each change immediately; a text field when it loses the focus or the user presses Enter. */
export function AuditFilterBar({
  filter,
  onChange,
}: {
  readonly filter: ChangeFilter;
  readonly onChange: (filter: ChangeFilter) => void;
}): ReactNode {
  const set = (change: Partial<ChangeFilter>): void => onChange({ ...filter, ...change });
  const count = Object.keys(setMembers(filter)).length;
  return (
    <FilterFields label="Filter" count={count}>
      <TextFilter label="Who" value={filter.actor} onChange={(actor) => set({ actor })} />
      <TextFilter
        label="Action"
        hint="Such as workflow.suspend"
        value={filter.action}
        onChange={(action) => set({ action })}
      />
      <label className="field">
        <span>Target</span>
        <select
          value={filter.targetKind}
          onChange={({ target }) => set({ targetKind: target.value })}
        >
          <option value="">any</option>
          {Object.entries(TARGET_KINDS).map(([kind, text]) => (
            <option key={kind} value={kind}>
              {text}
            </option>
          ))}
        </select>
      </label>
      <TextFilter
        label="Target id or name"
        value={filter.targetId}
        onChange={(targetId) => set({ targetId })}
      />
      <TextFilter label="Address" value={filter.address} onChange={(address) => set({ address })} />
      <PeriodFilter
        label="Period"
        value={filter.within}
        onChange={(within) => set({ within, from: '', to: '' })}
      />
      <TimeFilter
        label="After"
        value={filter.from}
        onChange={(from) => set({ from, within: '' })}
      />
      <TimeFilter label="Before" value={filter.to} onChange={(to) => set({ to, within: '' })} />
      {count > 0 && (
        <Button variant="quiet" onPress={() => onChange(NO_CHANGE_FILTER)}>
          Clear
        </Button>
      )}
    </FilterFields>
  );
}
