import type { ChannelRegistry } from '../catalog/channels/channel-registry.js';
import type { PushClient } from '../delivery/transport/push-client.js';

/** What operations need of the node they run on, beside the operator's own. */
export interface ConsoleTools {
  readonly channels: ChannelRegistry;
  readonly pushClient: PushClient;
  /** Where people reach the console. */
  readonly consoleUrl: () => string;
  /** Where channels reach the interface. */
  readonly publicUrl: () => string;
  /** Refunds above this need a second person; 0: none does. */
  readonly refundApprovalCent: number;
}
