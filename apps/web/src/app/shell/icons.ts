import {
  IconActivityHeartbeat,
  IconCreditCard,
  IconGift,
  IconHome,
  IconLifebuoy,
  IconMail,
  IconReceipt,
  IconServer2,
  IconSettings,
  IconTicket,
  IconTrophy,
  IconUsersPlus
} from '@tabler/icons-react'
import type { ComponentType } from 'react'
import type { MenuScreenId } from '../manifest.ts'

export type Icon = ComponentType<{ size?: number; 'aria-hidden'?: boolean }>

/** The icon of each screen that is in a menu. Apart from the manifest, since the shop's pages need none of them. */
export const icons: Record<MenuScreenId, Icon> = {
  home: IconHome,
  Proxies: IconServer2,
  rewards: IconTrophy,
  promocodeUser: IconTicket,
  giftcardUser: IconGift,
  invite: IconUsersPlus,
  userSettings: IconSettings,
  support: IconLifebuoy,
  Orders: IconReceipt,
  payments: IconCreditCard,
  giftcard: IconGift,
  mails: IconMail,
  health: IconActivityHeartbeat
}
