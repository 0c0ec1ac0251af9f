import { useId, type ReactNode } from 'react';
import { PriorityChoice } from '../../components/priority-choice.js';
import { useZone } from '../../components/zone-choice.js';
import { TagRows } from '../../components/tag-rows.js';
import {
  CONFLICT_WORDS,
  DEBOUNCE_WORDS,
  keyIn,
  SCOPE_WORDS,
  type OptionProblems,
  type StartChoices,
  type StartDefaults,
} from './start-options.js';

interface StartOptionsFormProps {
  readonly choices: StartChoices;
  readonly defaults: StartDefaults;
  readonly problems: OptionProblems;
  readonly onChange: (choices: StartChoices) => void;
}

/** The reference, the tags, the priority, the fairness and the time of a start. */
export function StartOptionsForm(props: StartOptionsFormProps): ReactNode {
  const { choices, defaults, problems, onChange } = props;
  const set = (change: Partial<StartChoices>): void => onChange({ ...choices, ...change });
  return (
    <div className="start-options">
      <label className="field">
        <span>Reference, for finding the run (optional)</span>
        <input
          value={choices.reference}
          placeholder={defaults.reference ?? undefined}
          spellCheck={false}
          onChange={({ target }) => set({ reference: target.value })}
        />
      </label>
      <ConflictChoice {...props} />
      <TagRows
        rows={choices.tags}
        onChange={(tags) => set({ tags })}
        problem={problems.tags ?? null}
      />
      <PriorityChoice
        label="Priority: the order in which its work waits"
        value={choices.priority ?? defaults.priority}
        onChange={(priority) => set({ priority })}
      />
      <FairnessChoice {...props} />
      <TimeChoice {...props} />
    </div>
  );
}

function ConflictChoice(props: StartOptionsFormProps): ReactNode {
  const { choices, defaults, problems, onChange } = props;
  const problemId = useId();
  const onConflict = choices.onConflict ?? defaults.onConflict;
  return (
    <div>
      <label className="field">
        <span>If another run of this definition has the same reference</span>
        <select
          value={onConflict}
          aria-invalid={problems.onConflict !== undefined}
          aria-describedby={problemId}
          onChange={({ target }) =>
            onChange({ ...choices, onConflict: keyIn(CONFLICT_WORDS, target.value) })
          }
        >
          {Object.entries(CONFLICT_WORDS).map(([value, words]) => (
            <option key={value} value={value}>
              {words}
            </option>
          ))}
        </select>
      </label>
      <p className="form-message" id={problemId} role="status">
        {problems.onConflict}
      </p>
      {(onConflict === 'fail' || onConflict === 'existing') && <ScopeChoice {...props} />}
    </div>
  );
}

function ScopeChoice({ choices, defaults, onChange }: StartOptionsFormProps): ReactNode {
  return (
    <label className="field">
      <span>Which other runs count</span>
      <select
        value={choices.conflictScope ?? defaults.conflictScope}
        onChange={({ target }) =>
          onChange({ ...choices, conflictScope: keyIn(SCOPE_WORDS, target.value) })
        }
      >
        {Object.entries(SCOPE_WORDS).map(([value, words]) => (
          <option key={value} value={value}>
            {words}
          </option>
        ))}
      </select>
    </label>
  );
}

function FairnessChoice({
  choices,
  defaults,
  problems,
  onChange,
}: StartOptionsFormProps): ReactNode {
  const problemId = useId();
  const set = (change: Partial<StartChoices>): void => onChange({ ...choices, ...change });
  return (
    <div>
      <label className="field">
        <span>Fairness key: whose work takes turns with that of others (optional)</span>
        <input
          value={choices.fairnessKey}
          placeholder={defaults.fairnessKey ?? undefined}
          maxLength={256}
          spellCheck={false}
          onChange={({ target }) => set({ fairnessKey: target.value })}
        />
      </label>
      <label className="field">
        <span>Weight of the key, from 0.01 to 100 (optional)</span>
        <input
          type="number"
          min={0.01}
          max={100}
          step="any"
          value={choices.fairnessWeight}
          aria-invalid={problems.fairnessWeight !== undefined}
          aria-describedby={problemId}
          onChange={({ target }) => set({ fairnessWeight: target.value })}
        />
      </label>
      <p className="form-message" id={problemId} role="status">
        {problems.fairnessWeight}
      </p>
    </div>
  );
}

const TIMES = [
  { when: 'now', label: 'now' },
  { when: 'at', label: 'at a time' },
  { when: 'after', label: 'after a delay' },
  { when: 'debounce', label: 'when no other start comes' },
] as const;

function TimeChoice({ choices, problems, onChange }: StartOptionsFormProps): ReactNode {
  const name = useId();
  const zone = useZone();
  const set = (change: Partial<StartChoices>): void => onChange({ ...choices, ...change });
  return (
    <fieldset className="start-time">
      <legend>Start</legend>
      {TIMES.map(({ when, label }) => (
        <label key={when}>
          <input
            type="radio"
            name={name}
            checked={choices.when === when}
            onChange={() => set({ when })}
          />
          <span>{label}</span>
        </label>
      ))}
      {choices.when === 'at' && (
        <label className="field">
          <span>{zone === 'UTC' ? 'Time (UTC)' : 'Time, in your time zone'}</span>
          <input
            type="datetime-local"
            step={1}
            value={choices.at}
            aria-invalid={problems.at !== undefined}
            onChange={({ target }) => set({ at: target.value })}
          />
        </label>
      )}
      {choices.when === 'after' && (
        <label className="field">
          <span>Delay, in seconds or as hh:mm:ss</span>
          <input
            value={choices.delay}
            aria-invalid={problems.delay !== undefined}
            onChange={({ target }) => set({ delay: target.value })}
          />
        </label>
      )}
      {choices.when === 'debounce' && <DebounceChoice {...{ choices, problems, set }} />}
      <p className="form-message" role="status">
        {problems.at ?? problems.delay ?? problems.period}
      </p>
    </fieldset>
  );
}

function DebounceChoice({
  choices,
  problems,
  set,
}: Pick<StartOptionsFormProps, 'choices' | 'problems'> & {
  readonly set: (change: Partial<StartChoices>) => void;
}): ReactNode {
  return (
    <>
      <label className="field">
        <span>For how long, in seconds or as hh:mm:ss</span>
        <input
          value={choices.period}
          aria-invalid={problems.period !== undefined}
          onChange={({ target }) => set({ period: target.value })}
        />
      </label>
      <label className="field">
        <span>Key of the starts that belong together</span>
        <input
          value={choices.debounceKey}
          maxLength={256}
          onChange={({ target }) => set({ debounceKey: target.value })}
        />
      </label>
      <label className="field">
        <span>Data of</span>
        <select
          value={choices.debounceData}
          onChange={({ target }) =>
            set({ debounceData: keyIn(DEBOUNCE_WORDS, target.value) ?? 'last' })
          }
        >
          {Object.entries(DEBOUNCE_WORDS).map(([value, words]) => (
            <option key={value} value={value}>
              {words}
            </option>
          ))}
        </select>
      </label>
    </>
  );
}
