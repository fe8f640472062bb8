import { useLocation } from 'react-router'
import { useSession } from '../../api/session.ts'
import Palette from '../palette/palette.tsx'
import { Preload } from './preload.ts'
import { ConfirmSession } from './confirm-session.tsx'
import { SecondFactorDue } from './second-factor-due.tsx'

/** Parts that an administrator has on every page. Without a needed second factor, the server refuses their calls. */
export default function Console() {
  const { user } = useSession()
  const { pathname } = useLocation()
  if (!user || user.must_add_second_factor) return null
  return (
    <>
      {user.second_factor_due && pathname.startsWith('/dashboard') && <SecondFactorDue due={user.second_factor_due} />}
      <Palette />
      <Preload />
      <ConfirmSession />
    </>
  )
}
