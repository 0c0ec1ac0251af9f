import type { Notification } from '@stepwright/sdk';
import { useState, type ReactNode } from 'react';
import { useSession } from '../../app/session.js';
import { DialogForm } from '../../components/dialog-form.js';
import { SecretField } from '../../components/secret-field.js';
import { TextField } from '../../components/text-field.js';
import { useToasts } from '../../components/toasts.js';
import {
  CHANGES,
  choicesOf,
  newSecret,
  requestOf,
  type NotificationChoices,
} from './notification-choices.js';

interface NotificationFormProps {
  /** The one to edit; null for a new one. */
  readonly existing: Notification | null;
  readonly onStored: () => void;
  readonly onClose: () => void;
}

type Change = (change: Partial<NotificationChoices>) => void;

/** Creates or changes a notification. */
export function NotificationForm(props: NotificationFormProps): ReactNode {
  const { existing, onStored, onClose } = props;
  const { client } = useSession();
  const { say } = useToasts();
  const [choices, setChoices] = useState(() => choicesOf(existing));
  const { name } = choices;
  const change: Change = (next) => setChoices({ ...choices, ...next });
  const store = async (): Promise<void> => {
    await client.notifications.put(name, requestOf(choices));
    say(existing === null ? `${name} was created.` : `${name} was changed.`);
    onStored();
  };
  return (
    <DialogForm
      title={existing === null ? 'New notification' : `Edit ${existing.name}`}
      submit={existing === null ? 'Create' : 'Save'}
      needs="author"
      isInvalid={choices.on.length === 0}
      hint={existing?.paused === true ? PAUSED_HINT : HINT}
      onSubmit={store}
      onClose={onClose}
    >
      <Fields isNew={existing === null} choices={choices} onChange={change} />
      <SecretField
        label={existing === null ? 'Secret that signs messages' : null}
        value={choices.secret}
        generate={newSecret}
        onChange={(secret) => change({ secret })}
      />
    </DialogForm>
  );
}

const HINT =
  'Messages are signed (Standard Webhooks) and retried for three days until the target responds with a 2xx status.';
const PAUSED_HINT = 'Saving resumes the notification.';

/** The target and the selection of messages. */
function Fields({
  isNew,
  choices,
  onChange,
}: {
  readonly isNew: boolean;
  readonly choices: NotificationChoices;
  readonly onChange: Change;
}): ReactNode {
  return (
    <>
      {isNew && (
        <TextField
          label="Name"
          isRequired
          value={choices.name}
          onChange={(name) => onChange({ name })}
        />
      )}
      <TextField
        label="Target (an http: or https: URL)"
        isRequired
        value={choices.url}
        onChange={(url) => onChange({ url })}
      />
      <ChangeChoice chosen={choices.on} onChange={(on) => onChange({ on })} />
      <TextField
        label="Definition (empty: all)"
        value={choices.definitionId}
        onChange={(definitionId) => onChange({ definitionId })}
      />
      <label className="field">
        <span>Conditions on tags and index fields, one per line; all must hold</span>
        <textarea
          rows={2}
          spellCheck={false}
          value={choices.where}
          onChange={({ target }) => onChange({ where: target.value })}
        />
      </label>
      <label className="dialog-checkbox">
        <input
          type="checkbox"
          checked={choices.include === 'data'}
          onChange={({ target }) => onChange({ include: target.checked ? 'data' : 'summary' })}
        />
        <span>Messages contain the data of the run</span>
      </label>
    </>
  );
}

function ChangeChoice({
  chosen,
  onChange,
}: {
  readonly chosen: NotificationChoices['on'];
  readonly onChange: (chosen: NotificationChoices['on']) => void;
}): ReactNode {
  return (
    <fieldset className="notification-changes">
      <legend>Notify when a run has</legend>
      {CHANGES.map(({ change, label }) => (
        <label key={change} className="dialog-checkbox">
          <input
            type="checkbox"
            checked={chosen.includes(change)}
            onChange={({ target }) => {
              const others = chosen.filter((each) => each !== change);
              onChange(target.checked ? [...others, change] : others);
            }}
          />
          <span>{label}</span>
        </label>
      ))}
    </fieldset>
  );
}
