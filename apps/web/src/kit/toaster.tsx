import './styles/toasts.ts'
import { Notifications } from '@mantine/notifications'

export default function Toaster() {
  return <Notifications position="top-center" limit={3} zIndex={500} />
}
