import com.amazonaws.services.dynamodbv2.local.main.ServerRunner;
import com.amazonaws.services.dynamodbv2.local.server.DynamoDBProxyServer;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;

/**
 * Runs DynamoDB Local in memory on a free port of 127.0.0.1; its own command line knows
 * neither and listens on every address. Says which port it is, and ends when its standard
 * input does, so that it never outlives who started it.
 */
final class Loopback {
  public static void main(String[] args) throws Exception {
    DynamoDBProxyServer local =
        ServerRunner.createServerFromCommandLineArgs(
            new String[] {"-inMemory", "-sharedDb", "-disableTelemetry"});
    var field = DynamoDBProxyServer.class.getDeclaredField("server");
    field.setAccessible(true);
    var connector = (ServerConnector) ((Server) field.get(local)).getConnectors()[0];
    connector.setHost("127.0.0.1");
    connector.setPort(0);
    local.start();
    System.out.println("Running on http://127.0.0.1:" + connector.getLocalPort());
    while (System.in.read() >= 0) {}
    System.exit(0);
  }
}
