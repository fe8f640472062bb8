import type { ProvisioningStep } from '@netlet/contract'

/**
 * Which steps may come after each one. Any of them may fail, which ends the provisioning there; asked for again, it
 * begins again at 'waiting'. Ranges that the management API cannot be sent go over SSH: hence 'ranges', 'connect', 'ranges'.
 */
export const NEXT_STEPS: Readonly<Record<ProvisioningStep, readonly ProvisioningStep[]>> = {
  waiting: ['connect', 'ranges'],
  connect: ['examine', 'ranges'],
  // Settings alone leave the program as it is.
  examine: ['upload', 'configure'],
  upload: ['configure'],
  configure: ['start'],
  start: ['wait'],
  wait: ['ranges'],
  ranges: ['connect', 'check', 'done'],
  // Ranges that could not be loaded keep nobody from trying what runs with those that it has: that is where it ends then.
  check: ['ranges', 'done'],
  done: []
}
