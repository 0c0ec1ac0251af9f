import type { Limit, LimitRequest } from '@stepwright/sdk';
import { useState, type ReactNode } from 'react';
import { useSession } from '../../app/session.js';
import { DialogForm } from '../../components/dialog-form.js';
import { TextField } from '../../components/text-field.js';
import { useToasts } from '../../components/toasts.js';
import { previewOf, type KeyEffect, type LimitPreview } from './limit-preview.js';
import { fieldsOf, requestOf, type LimitFields } from './limit-settings.js';
import { KeyName } from './limit-use.js';

interface LimitFormProps {
  /** The one to change, as it is now; null for a new one. */
  readonly existing: Limit | null;
  readonly onStored: (limit: Limit) => void;
  readonly onClose: () => void;
}

interface FieldsProps {
  readonly fields: LimitFields;
  readonly onChange: (change: Partial<LimitFields>) => void;
}

/** Creates or changes a limit, and shows what a change would do. */
export function LimitForm({ existing, onStored, onClose }: LimitFormProps): ReactNode {
  const { client } = useSession();
  const { say } = useToasts();
  const [fields, setFields] = useState(() => fieldsOf(existing));
  const request = requestOf(fields);
  const change: FieldsProps['onChange'] = (next) => setFields({ ...fields, ...next });
  const store = async (): Promise<void> => {
    if (request === null) return;
    const limit = await client.limits.put(fields.name, request);
    say(existing === null ? `${limit.name} was created.` : `${limit.name} was changed.`);
    onStored(limit);
  };
  return (
    <DialogForm
      title={existing === null ? 'New limit' : `Change ${existing.name}`}
      submit={existing === null ? 'Create' : 'Save'}
      needs="author"
      isInvalid={request === null}
      hint="Numbers are whole numbers. A limit has a concurrency, a rate or both, for each key."
      onSubmit={store}
      onClose={onClose}
    >
      {existing === null && (
        <TextField
          label="Name"
          isRequired
          value={fields.name}
          onChange={(name) => change({ name })}
        />
      )}
      <SettingsFields fields={fields} onChange={change} />
      {existing !== null && request !== null && <Preview limit={existing} request={request} />}
    </DialogForm>
  );
}

function SettingsFields({ fields, onChange }: FieldsProps): ReactNode {
  const { burst, concurrency, count, description, per } = fields;
  return (
    <>
      <TextField
        label="Description"
        value={description}
        onChange={(next) => onChange({ description: next })}
      />
      <TextField
        label="Units at a time (empty: any number)"
        value={concurrency}
        onChange={(next) => onChange({ concurrency: next })}
      />
      <TextField
        label="Units that begin in a period (empty: any number)"
        value={count}
        onChange={(next) => onChange({ count: next })}
      />
      {count.trim() !== '' && (
        <>
          <TextField
            label="Period, such as 10s or 1h"
            isRequired
            value={per}
            onChange={(next) => onChange({ per: next })}
          />
          <TextField
            label="Of these, at once (empty: 1)"
            value={burst}
            onChange={(next) => onChange({ burst: next })}
          />
        </>
      )}
    </>
  );
}

/** Said again whenever the counts of the page or the fields change. */
function Preview({
  limit,
  request,
}: {
  readonly limit: Limit;
  readonly request: LimitRequest;
}): ReactNode {
  const preview = previewOf(limit, request);
  const { exceeded, released } = preview;
  return (
    <section className="panel limit-preview" aria-label="What this change does" aria-live="polite">
      <ReleasedText preview={preview} />
      {released.length > 0 && <Effects effects={released} one="step" many="steps" />}
      {exceeded.length > 0 && (
        <>
          <p>
            Nobody is interrupted. Held now, beyond what it would allow; further steps wait until
            these have ended:
          </p>
          <Effects effects={exceeded} one="unit" many="units" />
        </>
      )}
      {preview.changesRate && <p>The rate counts for steps that begin from then on.</p>}
    </section>
  );
}

function ReleasedText({ preview }: { readonly preview: LimitPreview }): ReactNode {
  const { hasRate, released, stillWaiting } = preview;
  const steps = released.reduce((sum, { count }) => sum + count, 0);
  if (steps === 0)
    return <p>No step gets a slot by it at once; {waitingInWords(stillWaiting)} now.</p>;
  return (
    <p>
      {steps.toLocaleString('en')} waiting {steps === 1 ? 'step gets a slot' : 'steps get a slot'}
      {hasRate ? ', as fast as the rate allows' : ' at once'}
      {stillWaiting > 0 && `; ${waitingInWords(stillWaiting)} for longer`}:
    </p>
  );
}

function waitingInWords(steps: number): string {
  if (steps === 0) return 'none waits';
  return steps === 1 ? '1 waits' : `${steps.toLocaleString('en')} wait`;
}

/** Keys shown; a limit can have a hundred of them. */
const KEYS_MAX = 10;

function Effects({
  effects,
  one,
  many,
}: {
  readonly effects: readonly KeyEffect[];
  readonly one: string;
  readonly many: string;
}): ReactNode {
  return (
    <ul>
      {effects.slice(0, KEYS_MAX).map(({ count, key }) => (
        <li key={key ?? ''}>
          {count.toLocaleString('en')} {count === 1 ? one : many} with <KeyName name={key} />
        </li>
      ))}
      {effects.length > KEYS_MAX && <li>and of {effects.length - KEYS_MAX} more keys</li>}
    </ul>
  );
}
