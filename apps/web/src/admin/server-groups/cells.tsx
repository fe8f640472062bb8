import type { ServerGroup } from '@netlet/contract'
import { pageAt } from '@netlet/contract/pages'
import { Link } from 'react-router'

/** Each links to the server. */
export const ServersCell = ({ servers }: Pick<ServerGroup, 'servers'>) => (
  <ul className="row stretch" style={{ gap: '0.15rem 0.75rem' }}>
    {servers.map(({ id, name }) => (
      <li key={id}>
        <Link className="plain" to={`${pageAt('servers')}?open=${id}`}>
          {name}
        </Link>
      </li>
    ))}
  </ul>
)
