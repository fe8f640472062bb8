import type { ProvisioningStep } from '@netlet/contract'

/**
 * Which steps may come after each one. Any of them may fail, which ends the provisioning there; asked for again, it
 * begins again at 'waiting'. Ranges that the management API cannot be sent go over SSH: hence 'ranges', 'connect', 'ranges'.
 */
export const NEXT_STEPS: Readonly<Record<ProvisioningStep, readonly ProvisioningStep[]>> = {
  waiting: ['connect', 'ranges'],
  connect: ['examine', 'ranges'],
  examine: ['upload'],
  upload: ['configure'],
  configure: ['start'],
  start: ['wait'],
  wait: ['ranges'],
  ranges: ['connect', 'done'],
  done: []
}
