/** Changes of an instance that notifications announce. */
export type InstanceChange = 'started' | 'completed' | 'failed' | 'suspended' | 'terminated';

/** The last status that notifications could announce. `new`: none yet. */
export type AnnouncedStatus = 'new' | 'running' | Exclude<InstanceChange, 'started'>;
